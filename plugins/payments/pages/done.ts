import { revealKey } from '#core/business/accounts/account-key.ts';
import { type AccountRecord, findActivePeriod, readAccounts } from '#core/business/accounts/account-record.ts';
import type { Registry } from '#core/extension/registry.ts';
import { isDecisionPromised } from '#core/business/payments/flags.ts';
import { type Order, type Payment, refundable } from '#core/business/payments/order.ts';
import { accountOf, defineForm, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { codePieces } from '#core/web/pages/code-pieces.ts';
import { type OfferedSample, writeSamples } from '#core/web/pages/code-samples.ts';
import { hasSetup, setupSample } from '#core/web/pages/setup-command.ts';
import { wellKnownPaths } from '#core/web/pages/paths.ts';
import { listRequests } from '#core/gateway/records/read-requests.ts';
import { describeGift } from './gift.ts';
import {
  describeDaysLeft,
  describeDecided,
  describeDecision,
  describeRefunds,
  extraPayments,
  isPaidTwice,
  ownOrder,
  pathOf,
  titleOfRefunds,
} from './order-view.ts';

/** Refresh interval in seconds without JavaScript, until the first request arrives. */
const plainRefresh = 10;

type Pages = Pick<Registry, 'pages'>;

/** Shows a key for the first time. This response is the only place that contains it. */
const keyForm = (gateway: Pages) =>
  defineForm({
    path: '/orders/{code}/key',
    fields: { type: 'object' },
    async submit(_input, request) {
      const { database, service } = request.host;
      const issued = await revealKey(database, service.prefix, accountOf(request).id);
      if (issued === undefined) return {};
      // An automatic refresh would lose the key.
      return { key: issued.key, samples: samplesFor(gateway, request, issued.key), refreshSeconds: undefined };
    },
  });

/** Page of a paid order: end of the days, the key and its use; for a gift, its code. */
export const createDonePage = (gateway: Pages): Page => ({
  path: '/orders/{code}/done',
  role: 'account',
  title: 'payments.done.title',
  template: 'payments/done.eta',
  layout: 'plain',
  note: 'payments.order_number',
  styles: ['payments/payments.css'],
  live: {
    topics: ['requests'],
    parts: { first: 'payments/first-request.eta' },
    async values(request) {
      return { first: await readFirst(await ownOrder(request), request) };
    },
  },
  async show(request) {
    const order = await ownOrder(request);
    if (order.state !== 'paid' && order.state !== 'refunded') return new Redirect(pathOf(order));
    const [account] = await readAccounts(request.host.database, 'id', [order.accountId]);
    const first = await readFirst(order, request);
    const gift = await describeGift(order, request);
    return {
      code: order.code,
      key: '',
      hint: account?.key?.hint ?? '',
      isKeyShown: account?.key?.isShown === true,
      isRefunded: order.state === 'refunded',
      isLate: order.isLate,
      ...(gift === undefined
        ? describePass(order, account, request)
        : { kind: gift.kind, paid: gift.title, until: gift.state }),
      isForOthers: gift !== undefined,
      passOn: gift?.passOn,
      extra: describeExtra(order, request),
      refundedMore: gift?.state ?? describeDaysLeft(order, request),
      refunds: describeRefunds(order, request),
      refundsTitle: titleOfRefunds(order, request),
      samples: samplesFor(gateway, request),
      first,
      home: wellKnownPaths.dashboard,
      connect: wellKnownPaths.connect,
      ...(first === undefined && gift === undefined && { refreshSeconds: plainRefresh }),
    };
  },
  forms: [keyForm(gateway)],
});

/** Code samples; the setup command comes first if a plugin serves its script, which asks for the key. @param key shown key */
function samplesFor(gateway: Pages, request: PageRequest, key?: string) {
  const { host } = request;
  const samples = writeSamples(host, ['curl', 'claude-code', 'openai', 'gemini'], key);
  const all = hasSetup(gateway) ? [setupToolSample(request), ...samples] : samples;
  return all.map(({ code, ...sample }) => ({ ...sample, pieces: codePieces(code) }));
}

function setupToolSample({ host, t, userAgent }: PageRequest): OfferedSample {
  const { text, value } = setupSample(userAgent, host.service.baseUrl);
  const code = `# ${t('payments.done.one_command_does')}\n${text}`;
  return { id: 'setup', name: t('payments.done.one_command'), code, value };
}

/** The account's latest answered request since the payment, which shows a customer that the tool is connected. */
async function readFirst({ accountId, payments, createdAt }: Order, request: PageRequest) {
  const { paidAt = createdAt } = payments.find(({ outcome }) => outcome === 'activated') ?? {};
  const filter = { accountId, outcome: 'answered', since: paidAt.getTime() } as const;
  const { records } = await listRequests(request.host.database, filter, { limit: 1 });
  const [record] = records;
  if (record === undefined) return undefined;
  return {
    model: record.model ?? record.endpoint ?? '',
    time: request.format.clock(new Date(record.started_at)),
    path: `${wellKnownPaths.dashboard}/requests/${record.id}`,
  };
}

/** Describes whether the pass is active, added after the current one, or over, and when access ends. */
function describePass({ days, period, readAt }: Order, account: AccountRecord | undefined, { t, format }: PageRequest) {
  const active = account === undefined ? undefined : findActivePeriod(account, account.readAt);
  const endsAt = active?.endsAt ?? period?.endsAt;
  const pass = passOf(period, readAt);
  const running = pass === 'over' ? 'payments.done.other_until' : 'payments.done.until';
  const until = active === undefined ? 'payments.done.ended' : running;
  return {
    kind: 'ok',
    paid: t(`payments.done.${pass}`, { count: days }),
    until: endsAt === undefined ? '' : t(until, { time: format.time(endsAt).text }),
  };
}

function passOf(period: Order['period'], now: Date): 'added' | 'paid' | 'over' {
  if (period === undefined || period.endsAt <= now) return 'over';
  return period.startsAt > now ? 'added' : 'paid';
}

/** Describes extra payments: held money and its next step, and money kept after a decision. */
function describeExtra(order: Order, request: PageRequest) {
  const { t } = request;
  const extra = extraPayments(order);
  const left = extra.filter((payment) => refundable(order, payment) > 0);
  const open = new Set(
    order.flags.flatMap((flag) => (isDecisionPromised(flag.kind) && !flag.resolvedAt ? [flag.subject] : [])),
  );
  const [held, kept] = [true, false].map((isOpen) => left.filter(({ paymentId }) => open.has(paymentId) === isOpen));
  const texts: string[] = [];
  if (held?.length) {
    const keys = ['payments.done.second_more', 'payments.done.second_late', 'payments.done.second_no_contact'] as const;
    texts.push(t('payments.done.second_held', { paid: sumLeft(order, held, request) }));
    texts.push(describeDecision(order, isDecisionPromised, keys, request));
  }
  if (kept?.length) {
    const key = isPaidTwice(extra) ? 'payments.done.second_kept' : 'payments.done.other_kept';
    texts.push(t(key, { paid: sumLeft(order, kept, request) }), ...describeDecided(order, isDecisionPromised, request));
  }
  if (texts.length === 0) return undefined;
  return {
    kind: held?.length ? 'warn' : 'info',
    title: t(isPaidTwice(extra) ? 'payments.done.second' : 'payments.done.others'),
    text: texts.join(' '),
  };
}

/** Sum of what is left of some payments, by currency: `Rp 36.000`. */
function sumLeft(order: Order, payments: readonly Payment[], { format }: Pick<PageRequest, 'format'>): string {
  const byCurrency = Map.groupBy(payments, ({ currency }) => currency);
  return Array.from(byCurrency, ([currency, some]) =>
    format.money(
      some.reduce((sum, payment) => sum + refundable(order, payment), 0),
      currency,
    ),
  ).join(' + ');
}
