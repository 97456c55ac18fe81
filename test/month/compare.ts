import { listMovements } from '#core/business/payments/movements.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { readRequests } from '#core/gateway/records/read-requests.ts';
import { readMonth } from '../../plugins/books/monthly-books.ts';
import { readMonthReceipts } from '../../plugins/books/receipt-lines.ts';
import { reconcileDay } from '../../plugins/books/reconcile.ts';
import { numberReceipts } from '../../plugins/receipts/numbers.ts';
import { listRedemptionsByDay } from '../../plugins/vouchers/voucher-batches.ts';
import { dayOf, type SoldOrder } from './model.ts';
import { type Month, startOfMonth } from './play.ts';
import { day as oneDay } from './script.ts';
import { peak } from './shares.ts';
import { costs, taxedFrom } from './world.ts';

/** What was compared at the end: how many, and what differs. */
export interface Compared {
  readonly name: string;
  readonly count: number;
  readonly differences: readonly string[];
}

/** Compares two lists of texts of the form `key value`. */
function compare(name: string, seen: readonly string[], expected: readonly string[]): Compared {
  const [there, wanted] = [countOf(seen), countOf(expected)];
  const differences = [
    ...[...wanted].filter(([text, count]) => there.get(text) !== count).map(([text]) => `missing: ${text}`),
    ...[...there].filter(([text, count]) => wanted.get(text) !== count).map(([text]) => `not expected: ${text}`),
  ];
  return { name, count: expected.length, differences };
}

function countOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** The state of the shop at the end of the month, against the model. */
export async function compareAll(month: Month): Promise<Compared[]> {
  const parts = [
    periods,
    orders,
    books,
    receipts,
    movements,
    voucherBooks,
    waits,
    credits,
    events,
    webhooks,
    canaries,
    probes,
    vendors,
    margins,
    bankBooks,
  ];
  const compared: Compared[] = [];
  for (const part of parts) compared.push(...[await part(month)].flat());
  return compared;
}

const microseconds = (time: string) => `(extract(epoch from ${time}) * 1000000)::bigint`;

async function periods({ model, world }: Month): Promise<Compared[]> {
  const rows = await world.host.database.query<{ account: string; period: string }>(
    `select account_id as account, coalesce(order_id::text, '-') || ' ' || ${microseconds('starts_at')} || ' ' || ${microseconds('ends_at')} as period
     from plan_period p where ends_at > starts_at and not exists (select 1 from plan_period r where r.replaces = p.id)`,
  );
  const expected = model.accounts.flatMap(({ periods: own }, index) =>
    own.map(({ order = '-', start, end }) => `${world.accounts[index]} ${order} ${start} ${end}`),
  );
  const seen = rows.map(({ account, period }) => `${account} ${period}`);
  return [compare('periods, µs', seen, expected)];
}

async function orders({ model, world }: Month): Promise<Compared[]> {
  const [seen, expected]: [string[], string[]] = [[], []];
  for (const { order } of model.sold) {
    const read = await readOrder(world.host.database, { id: order.id });
    const flags = read?.flags.map(({ kind, subject, resolvedAt }) => `${kind} ${subject} ${resolvedAt !== undefined}`);
    const paid = read?.payments.map(({ amount, outcome }) => `${amount} ${outcome}`);
    const back = read?.refunds.map(({ amount, state, days }) => `${amount} ${state} ${days}`);
    seen.push(
      [order.code, read?.price, read?.state, read?.isLate, read?.gift?.state, paid, back, flags?.toSorted()].join('; '),
    );
    const modelFlags = [...order.flags].map(([flag, isResolved]) => `${flag} ${isResolved}`).toSorted();
    const modelPaid = [...order.payments.values()].map(({ amount, outcome }) => `${amount} ${outcome}`);
    const modelBack = order.refunds.map(({ amount, state, days }) => `${amount} ${state} ${days}`);
    const gift = order.giftState(model.now);
    expected.push(
      [order.code, order.price, order.state, order.isLate, gift, modelPaid, modelBack, modelFlags].join('; '),
    );
  }
  return [compare('orders with payments, refunds, flags, gifts', seen, expected)];
}

const months = (month: Month) => [...new Set(month.model.money.map(({ at }) => dayOf(at).slice(0, 7)))];

const totalOf = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + Math.abs(amount), 0);

/** Sums as texts of the form `key sum`. */
const texts = (sums: ReadonlyMap<string, number | bigint>) => [...sums].map(([key, sum]) => `${key} ${sum}`);

/** What a tax office gets: turnover by day in Asia/Jakarta. */
async function books(month: Month): Promise<Compared> {
  const { model, world } = month;
  const [seen, expected]: [string[], string[]] = [[], []];
  for (const one of months(month)) {
    const days = await readMonth(world.host.database, { month: one, timeZone: 'Asia/Jakarta', currency: 'IDR' });
    for (const { day, payments, gross, refunds, refunded } of days)
      seen.push(`${day}: ${payments} payments Rp ${gross}, ${refunds} refunds Rp ${refunded}`);
    for (const { day } of days) {
      const own = model.money.filter(({ at }) => dayOf(at) === day).map(({ amount }) => amount);
      const [came, back] = [own.filter((amount) => amount > 0), own.filter((amount) => amount < 0)];
      expected.push(`${day}: ${came.length} payments Rp ${totalOf(came)}, ${back.length} refunds Rp ${totalOf(back)}`);
    }
  }
  return compare('books by day, rupiah', seen, expected);
}

/** Every movement has a receipt, the numbers have no gap, and the lines of a month are its books; with tax from a day on. */
async function receipts(month: Month): Promise<Compared[]> {
  const { model, world } = month;
  const { database } = world.host;
  await numberReceipts(database);
  const [seen, expected]: [string[], string[]] = [[], []];
  for (const one of months(month)) {
    const settings = { month: one, timeZone: 'Asia/Jakarta', currency: 'IDR' };
    const found = await readMonthReceipts(database, await readMonth(database, settings), settings);
    for (const { at, code, gross, withoutTax, tax, number } of found?.lines ?? []) {
      const isTaxed = tax !== 0;
      seen.push(
        `${dayOf(BigInt(at.getTime()) * 1_000n)} ${code} ${gross} ${withoutTax + tax} ${isTaxed} ${number !== undefined}`,
      );
    }
    seen.push(`without receipt: ${JSON.stringify(found?.unnumbered)}`);
    expected.push('without receipt: {"count":0,"gross":0}');
  }
  const paidAt = new Map<string, bigint>();
  for (const { order, at, amount } of model.money)
    if (amount > 0 && !paidAt.has(order.order.code)) paidAt.set(order.order.code, at);
  for (const { order, at, amount } of model.money) {
    // A refund has the tax of its payment.
    const day = dayOf(amount > 0 ? at : (paidAt.get(order.order.code) ?? at));
    expected.push(`${dayOf(at)} ${order.order.code} ${amount} ${amount} ${day >= taxedFrom} true`);
  }
  return [compare('receipts, rupiah', seen, expected), await gapsOf(month)];
}

/** Gaps between the numbers that receipts have so far. */
async function gapsOf({ world }: Month): Promise<Compared> {
  const rows = await world.host.database.query<{ kind: string; gaps: number }>(
    'select kind, (max(number) - count(*))::float8 as gaps from receipt where number is not null group by kind',
  );
  return compare(
    'gaps between the numbers of receipts',
    rows.map(({ kind, gaps }) => `${kind} ${gaps}`),
    rows.map(({ kind }) => `${kind} 0`),
  );
}

/** The part of the comparison that can be made at the end of any day. */
export async function compareBooks(month: Month): Promise<readonly [books: Compared, gaps: Compared]> {
  await numberReceipts(month.world.host.database);
  return [await books(month), await gapsOf(month)];
}

async function movements({ model, world }: Month): Promise<Compared[]> {
  const seen: string[] = [];
  for await (const { order, amount, at, isGift } of listMovements(world.host.database, {}))
    seen.push(`${order} ${amount} ${at.getTime()} ${isGift}`);
  const expected = model.money.map(
    ({ order: { order }, at, amount }) => `${order.code} ${amount} ${at / 1_000n} ${order.isGift}`,
  );
  return [compare('lines of the export', seen, expected)];
}

/**
 * The days of the month against the bank's books. It comes after all other comparisons: it reads refunds that the bank has
 * confirmed since they were last read.
 */
async function bankBooks({ model, world }: Month): Promise<Compared[]> {
  const [seen, expected]: [string[], string[]] = [[], []];
  const last = dayOf(model.now);
  for (let at = startOfMonth; dayOf(at) <= last; at += oneDay) {
    const [compared] = await reconcileDay(world.host, { day: dayOf(at), timeZone: 'Asia/Jakarta' });
    const { here, stated, differences } = compared ?? {};
    seen.push(`${dayOf(at)} ${JSON.stringify(here)} ${JSON.stringify(differences)}`);
    expected.push(`${dayOf(at)} ${JSON.stringify(stated)} []`);
  }
  return [compare("days against the bank's books", seen, expected)];
}

async function voucherBooks(month: Month): Promise<Compared[]> {
  const { model, world } = month;
  const seen: string[] = [];
  const all = new Set([...model.redeemed.keys()].map((key) => key.slice(0, 7)));
  for (const one of all)
    for (const { day, source, vouchers, days } of await listRedemptionsByDay(world.host.database, one, 'Asia/Jakarta'))
      seen.push(`${day} ${source} vouchers ${vouchers}`, `${day} ${source} days ${days}`);
  const expected = [...model.redeemed].map(([key, count]) => `${key} ${count}`);
  return [compare('vouchers and gifts redeemed, by day', seen, expected)];
}

async function waits({ model, world }: Month): Promise<Compared[]> {
  const rows = await world.host.database.query<{ wait: string }>(
    `select account_id || ' ' || days || ' ' || ${microseconds('joined_at')} || ' ' || coalesce(${microseconds('reserved_until')}::text, '-')
       || ' ' || coalesce(outcome, 'open') as wait from waiting_entry`,
  );
  const expected = model.waits.map(
    ({ account, days, joined, reservedUntil, outcome }) =>
      `${world.accounts[account]} ${days} ${joined} ${reservedUntil ?? '-'} ${outcome ?? 'open'}`,
  );
  return [
    compare(
      'waits with their reservations, µs',
      rows.map(({ wait }) => wait),
      expected,
    ),
  ];
}

async function credits({ model, world }: Month): Promise<Compared[]> {
  const rows = await world.host.database.query<{ account: string; from: number; seconds: number }>(
    `select c.account_id as account, (extract(epoch from o.from_at) * 1000)::float8 as from, c.seconds
     from outage_credit c join outage o on o.id = c.outage_id where c.seconds > 0`,
  );
  const expected = model.credits.map(
    ({ account, outage, seconds }) => `${world.accounts[account]} ${model.outages[outage]?.from} ${seconds}`,
  );
  return [
    compare(
      'time given back for outages, s',
      rows.map(({ account, from, seconds }) => `${account} ${from} ${seconds}`),
      expected,
    ),
  ];
}

/** Events that mails and webhooks are made of, and incidents. */
async function events({ model, world }: Month): Promise<Compared[]> {
  const { database } = world.host;
  const names = [
    'order.paid',
    'order.expired',
    'order.refunded',
    'order.flagged',
    'place.reserved',
    'payment.received',
  ];
  const rows = await database.query<{ name: string; count: number }>(
    'select name, count(*)::int as count from account_event where name in (?) group by name',
    [names],
  );
  const sold = model.sold.map(({ order }) => order);
  const sum = (of: (order: (typeof sold)[number]) => number) => sold.reduce((total, order) => total + of(order), 0);
  const activated = (order: (typeof sold)[number]) =>
    [...order.payments.values()].filter(({ outcome }) => outcome === 'activated').length;
  const expected = {
    'order.paid': sum(activated),
    'order.expired': model.expired,
    'order.refunded': sum(({ state }) => Number(state === 'refunded')),
    'order.flagged': sum(({ flags }) => flags.size),
    'place.reserved': model.reservations,
    'payment.received': sum(({ payments }) => payments.size),
  };
  const incidents = await database.query<{ kind: string; is_over: boolean }>(
    'select kind, ended_at is not null as is_over from incident where opened_at is not null',
  );
  return [
    compare(
      'events by name, as mails and webhooks get them',
      rows.map(({ name, count }) => `${name} ${count}`),
      Object.entries(expected)
        .filter(([, count]) => count > 0)
        .map(([name, count]) => `${name} ${count}`),
    ),
    compare(
      'incidents',
      incidents.map(({ kind, is_over: isOver }, index) => `${index} ${kind} ${isOver}`),
      model.outages.map((_outage, index) => `${index} down true`),
    ),
  ];
}

/** What the operator's webhook got: each flag at once, and the report of each day. Health checks are not of the shop. */
async function webhooks({ model, world }: Month): Promise<Compared[]> {
  const seen = world.alerts.map(({ type, data }) => {
    const { open_flags: flags, money, ...one } = data as Record<string, unknown>;
    if (type === 'day.reported') {
      const open = Object.entries(flags as object).map(([kind, count]) => `${kind} ${count}`);
      const rest = `${one['refunds_pending']} refunds pending${one['oldest_unconfirmed'] === null ? '' : ', a payment too'}`;
      return `${type} ${one['day']} ${one['revenue']} ${one['orders']} [${open.toSorted().join(', ')}] ${rest}`;
    }
    const ofVendor = describeVendorAlert(type, one);
    if (ofVendor !== undefined) return ofVendor;
    const amount = (money as { amount: number } | null)?.amount;
    return `${type} ${one['order']} ${one['reason']} ${one['price']} ${amount} ${one['decide_by']}`;
  });
  return [compare("alerts to the operator's webhook", seen, model.alerts)];
}

/** Alerts about vendors: an account that runs dry, one that is closed, a model that is retired, a prompt cache that is lost. */
function describeVendorAlert(type: unknown, data: Record<string, unknown>): string | undefined {
  if (type === 'key.closed') return `${type} ${String(data['upstream'])} ${String(data['part'])}`;
  if (type === 'model.retiring')
    return `${type} ${String(data['route'])} ${String(data['state'])} ${String(data['ends_on'])} ${String(data['successor'])}`;
  if (type === 'cached_input.fell') {
    const fallen = data['fallen'] as { by: string; name: string }[];
    return `${type} ${fallen.map(({ by, name }) => `${by} ${name}`).join(', ')}`;
  }
  if (type !== 'balance.low') return undefined;
  const [one] = data['balances'] as { upstreams: string[]; days_left: number; models_lost: string[] }[];
  const days = Math.round(one?.days_left ?? NaN);
  return `${type} ${one?.upstreams.join()} ${days} ${String(data['passes'])} ${one?.models_lost.join()}`;
}

/**
 * Customers notice nothing of vendors that are seen to fail: each request is served, conversations lose at most 2 points of their cached
 * share, a forced change costs one cold turn, and a closed account is asked once a day.
 */
async function vendors({ world }: Month): Promise<Compared[]> {
  const { seen, expected } = world.vendors.compare();
  const notices = world.vendors.notices(world.alerts);
  return [
    compare('conversations with vendors that fail, and with a healthy one', seen, expected),
    compare(
      'alerts about vendors, in time',
      notices.map(({ trouble, isInTime }) => `${trouble} ${isInTime}`),
      notices.map(({ trouble }) => `${trouble} true`),
    ),
  ];
}

/** The bad change that served a share has taken itself back, and never served everybody. */
async function canaries({ world, canaryEnd }: Month): Promise<Compared[]> {
  const rows = await world.host.database.query<{ outcome: string; has_served: boolean }>(
    `select outcome, exists (select from served_configuration s where s.digest = c.digest) as has_served from configuration_canary c`,
  );
  const isFound = canaryEnd !== undefined && canaryEnd.requests < 200;
  const seen = rows.map(({ outcome, has_served: hasServed }) => `${outcome} ${hasServed} ${isFound}`);
  return [compare('the canary', seen, ['worse false true'])];
}

/** Each probe's fingerprint: of `steady` never another model, of `weak` from the day on which it was one. */
async function probes({ weakDays, world }: Month): Promise<Compared[]> {
  const rows = await world.host.database.query<{ route: string; state: string }>(
    `select route, state from probes_result where check_name = 'fingerprint' order by started_at`,
  );
  const seen = ['steady/main', 'weak/main'].flatMap((route) =>
    rows.filter((row) => row.route === route).map(({ state }, index) => `${route} ${index} ${state}`),
  );
  const expected = weakDays.flatMap((isWeak, index) => [
    `steady/main ${index} ok`,
    `weak/main ${index} ${isWeak ? 'failed' : 'ok'}`,
  ]);
  return [compare('fingerprints of routes', seen, expected)];
}

/** Units of 10^-28 rupiah, in which margins are exact. */
const unit = 10n ** 28n;

/** @param rupiah a decimal number with 28 digits after the point at most */
function exactly(rupiah: string): bigint {
  const [whole = '', fraction = ''] = rupiah.split('.');
  return BigInt(whole + fraction.padEnd(28, '0'));
}

/** What an order has earned by now: its money, less refunds, evenly over the time of whoever has the days. */
function earned({ model }: Month, { order, account, paidAt, giftEndedAt }: SoldOrder, until: bigint) {
  const payment = [...order.payments.values()].find(({ outcome }) => outcome === 'activated');
  if (payment === undefined || paidAt === undefined) return undefined;
  const done = order.refunds.filter((one) => one.payment.id === payment.id && one.state === 'done');
  const back = done.reduce((sum, one) => sum + one.amount, 0);
  const kept = BigInt(payment.amount - back) * unit;
  const holder = order.isGift ? order.gift?.redeemer : model.account(account);
  const period = holder?.periods.find((one) => one.order === order.id);
  if (period === undefined) {
    const moment = order.isGift ? giftEndedAt : paidAt;
    return { account, sum: moment === undefined ? 0n : kept };
  }
  const [start, end] = [period.start / 1_000n, period.end / 1_000n];
  const passed = until < start ? 0n : until > end ? end - start : until - start;
  return { account: model.accounts.indexOf(holder as never), sum: (kept * passed) / (end - start) };
}

/** Waits for a free slot, by account, as the records have them. */
async function queued({ model, world }: Month): Promise<Compared> {
  const seen = new Map<string, number>();
  for (const accountId of world.accounts.slice(0, peak.others + 1))
    for await (const { queue_ms: wait } of readRequests(world.host.database, { accountId }))
      if (wait !== null) seen.set(accountId, (seen.get(accountId) ?? 0) + wait);
  const expected = new Map<string, number>();
  for (const { account, wait } of model.used) {
    const id = world.accounts[account] as string;
    if (wait !== undefined) expected.set(id, (expected.get(id) ?? 0) + wait);
  }
  return compare('waits for a slot by account, ms', texts(seen), texts(expected));
}

function add(sums: Map<string, bigint>, key: string, sum: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + sum);
}

async function margins(month: Month): Promise<Compared[]> {
  const { model, world } = month;
  const until = model.now / 1_000n;
  const host = { ...world.host, now: () => Number(until) - 1 };
  const groups = async (by: 'account' | 'plan' | 'route') =>
    (await world.figures.read(host, { since: Number(startOfMonth / 1_000n) }, by))?.groups ?? [];
  const byAccount = new Map<string, bigint>();
  const byPlan = new Map<string, bigint>();
  for (const sold of model.sold) {
    const one = earned(month, sold, until);
    if (one === undefined || one.sum === 0n) continue;
    add(byAccount, world.accounts[one.account] as string, one.sum);
    add(byPlan, String(sold.order.days), one.sum);
  }
  const cost = new Map<string, bigint>();
  const requests = new Map<string, number>();
  for (const { account, route, input, output } of model.used) {
    const id = world.accounts[account] as string;
    requests.set(id, (requests.get(id) ?? 0) + 1);
    const price = costs[route as keyof typeof costs];
    if (price !== undefined)
      add(cost, route, (BigInt(input * price.input + output * price.output) * unit) / 1_000_000n);
  }
  const sumsBy = async (by: 'account' | 'plan' | 'route', name: 'earned' | 'cost') =>
    (await groups(by)).flatMap(({ key, json }) => {
      const sum = exactly((json as Record<typeof name, string>)[name]);
      return sum === 0n ? [] : [`${key} ${sum}`];
    });
  return [
    compare('earned by account, 10⁻²⁸ rupiah', await sumsBy('account', 'earned'), texts(byAccount)),
    compare('earned by plan, 10⁻²⁸ rupiah', await sumsBy('plan', 'earned'), texts(byPlan)),
    compare('cost by route, 10⁻²⁸ rupiah', await sumsBy('route', 'cost'), texts(cost)),
    await queued(month),
    compare(
      'requests by account',
      (await groups('account'))
        .filter(({ counts }) => counts.requests > 0)
        .map(({ key, counts }) => `${key} ${counts.requests}`),
      [...requests, ['null', month.counts.talked]].map(([key, count]) => `${key} ${count}`),
    ),
  ];
}
