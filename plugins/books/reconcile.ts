import { currencySection } from '#core/business/accounts/plans.ts';
import {
  getConfiguredProvider,
  getPaymentConnection,
  getPaymentProviders,
} from '#core/business/payments/connections.ts';
import { type FlaggedMoney, flagForeignMoney, flagOrder } from '#core/business/payments/flags.ts';
import type { StatedMovement, TimeSpan } from '#core/business/payments/payment-provider.ts';
import { readCharge } from '#core/business/payments/read-charge.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { dayRangeToTimes } from '#core/platform/database/day-range.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { defineSentences } from '#core/platform/sentences.ts';
import {
  type BookTotals,
  type BookEntry,
  sumFees,
  matchBooks,
  type MatchedPair,
  computeTotals,
} from './match-books.ts';
import { readProviderBooks } from './provider-books.ts';
import en from './texts/en.json' with { type: 'json' };

/*
 * Compares our books with a provider's. A movement is in both books, only in the provider's, or only in ours. If it is in both, the
 * provider's fee is stored; if it is in one only, it is flagged once.
 */

interface Difference extends FlaggedMoney {
  /** `here`: only in our books. `provider`: only in the provider's. `amount`: in both, with different amounts. */
  readonly side: 'here' | 'provider' | 'amount';
  readonly id: string; // the provider's, or ours if the provider has none
  readonly reference: string | undefined;
  readonly at: Date;
}

export interface Reconciliation {
  readonly provider: string;
  /** False if the provider cannot list its movements, so those without a charge of ours are not found. */
  readonly isList: boolean;
  readonly here: BookTotals;
  readonly stated: BookTotals;
  readonly differences: readonly Difference[];
  readonly unread: number; // charges that could not be read; compare again later
}

const reason = defineSentences(en);

const toleranceMs = 6 * 3_600_000; // the two sides may date a movement this far apart, and so on different days

/**
 * Compares our payments and refunds in a time range with a provider's books. First settles payments that the provider lists and this
 * gateway has not recorded. Manual refunds are omitted, because the provider does not know them.
 *
 * @throws PaymentError if the provider's list cannot be read, or the signal has aborted
 * @throws Error if the provider is not configured
 */
export async function reconcile(
  host: Host,
  provider: string,
  span: TimeSpan,
  currency: string,
  signal?: AbortSignal,
): Promise<Reconciliation> {
  const wideSpan = { since: new Date(+span.since - toleranceMs), until: new Date(+span.until + toleranceMs) };
  const books = await readProviderBooks(host, provider, wideSpan, signal);
  let matches = matchBooks(await readEntries(host.database, provider, wideSpan), books.movements);
  if (books.isList && (await settleUnrecorded(host, provider, matches.onlyTheirs)))
    matches = matchBooks(await readEntries(host.database, provider, wideSpan), books.movements);
  const isInSpan = ({ at }: { readonly at: number | Date }) => Number(at) >= +span.since && Number(at) < +span.until;
  const isComparable = ({ kind, reference }: BookEntry) =>
    !books.unread.has(reference) && !(kind === 'refund' && books.unlisted.has(reference));
  const onlyOurs = matches.onlyOurs.filter((entry) => isInSpan(entry) && isComparable(entry));
  const onlyTheirs = matches.onlyTheirs.filter(isInSpan);
  const differing = matches.pairs.filter(([entry, stated]) => isInSpan(entry) && entry.amount !== stated.amount);
  await storeMatches(host.database, matches.pairs, provider);
  await flagDifferences(host, provider, onlyOurs, onlyTheirs, differing);
  if (books.isList) await closeUnlistedFlags(host.database, provider, span, matches.onlyTheirs);
  const matched = matches.pairs;
  const ours = [...matched.map(([entry]) => entry), ...matches.onlyOurs].filter(isInSpan);
  const theirs = books.movements.filter(isInSpan);
  const matchedFees = sumFees(matched.filter(([entry]) => isInSpan(entry)).map(([, stated]) => stated));
  return {
    provider,
    isList: books.isList,
    here: computeTotals(ours, currency, matchedFees),
    stated: computeTotals(theirs, currency, sumFees(theirs)),
    differences: [
      ...onlyOurs.map((entry) => toDifference('here', entry, undefined)),
      ...onlyTheirs.map(({ id, kind, reference, amount, currency: code, at }) => {
        return { side: 'provider' as const, kind, id, reference, amount, statedAmount: amount, currency: code, at };
      }),
      ...differing.map(([entry, stated]) => toDifference('amount', entry, stated.amount)),
    ],
    unread: books.unread.size,
  };
}

/** Compares a day with one provider, or with all providers whose books may contain our money. Throws the same errors as `reconcile`. */
export async function reconcileDay(
  host: Host,
  {
    day,
    timeZone,
    provider,
  }: { readonly day: string; readonly timeZone: string; readonly provider?: string | undefined },
  signal?: AbortSignal,
): Promise<Reconciliation[]> {
  const { since = new Date(0), until = new Date(0) } = await dayRangeToTimes(host.database, timeZone, day, day);
  const names = provider === undefined ? await listProviders(host, { since, until }) : [provider];
  const reconciliations: Reconciliation[] = [];
  for (const name of names)
    reconciliations.push(await reconcile(host, name, { since, until }, host.section(currencySection), signal));
  return reconciliations;
}

/**
 * Lists the providers whose books may contain our money for a time range: those with charges, payments or refunds in it, and the configured
 * provider if it can list its movements, because it may list some on a day when we have none. Excludes sandboxes, which move no money.
 */
export async function listProviders(host: Host, { since, until }: TimeSpan): Promise<string[]> {
  const rows = await host.database.query<{ provider: string }>(
    `with span as (select to_timestamp(?::float8 / 1000) as since, to_timestamp(?::float8 / 1000) as until)
     select provider from payment_attempt, span where created_at between since - interval '1 day' and until
     union select provider from payment, span where paid_at between since and until
     union select p.provider from refund r join payment p on p.id = r.payment_id, span where r.finished_at between since and until`,
    [since.getTime(), until.getTime()],
  );
  const names = new Set(rows.map(({ provider }) => provider));
  const configured = getConfiguredProvider(host)?.name;
  if (configured !== undefined && getPaymentConnection(host, configured).listMovements !== undefined)
    names.add(configured);
  return [...names].filter((name) => getPaymentProviders(host).get(name)?.isSandbox !== true).toSorted();
}

async function readEntries(database: Queries, provider: string, { since, until }: TimeSpan): Promise<BookEntry[]> {
  return database.query<BookEntry>(
    `with span as (select to_timestamp(?::float8 / 1000) as since, to_timestamp(?::float8 / 1000) as until)
     select m.*, m.amount::float8 as amount, ${epoch('m.moved_at')} as at,
       coalesce(m.provider_reference, a.provider_reference) as provider_reference, o.account_id
     from (
       select 'payment' as kind, id::text, payment_id as provider_id, provider_reference, reference, amount, currency,
         paid_at as moved_at, order_id
       from payment, span where provider = ? and paid_at >= since and paid_at < until
       union all
       select 'refund', r.key, r.provider_refund_id, p.provider_reference, p.reference, r.amount, r.currency, r.finished_at, r.order_id
       from refund r join payment p on p.id = r.payment_id, span
       where p.provider = ? and r.state = 'done' and r.finished_at >= since and r.finished_at < until
         and (not r.is_manual or r.provider_refund_id is not null)
     ) m join payment_attempt a on a.reference = m.reference join plan_order o on o.id = m.order_id
     order by m.moved_at, m.id`,
    [since.getTime(), until.getTime(), provider, provider],
  );
}

/** Returns true if any of the movements is ours. */
async function settleUnrecorded(host: Host, provider: string, onlyTheirs: readonly StatedMovement[]): Promise<boolean> {
  let hasOurs = false;
  for (const movement of onlyTheirs) {
    const { id, kind } = movement;
    const charge = await findCharge(host.database, provider, movement);
    if (charge === undefined) continue;
    const paymentId = kind === 'payment' && id !== charge.providerReference ? id : null;
    await readCharge(host, provider, { ...charge, paymentId });
    hasOurs = true;
  }
  return hasOurs;
}

interface Charge {
  readonly reference: string;
  readonly providerReference: string | null;
  readonly orderId: string;
  readonly accountId: string;
}

async function findCharge(
  database: Queries,
  provider: string,
  { id, reference, providerReference }: StatedMovement,
): Promise<Charge | undefined> {
  const [charge] = await database.query<Charge>(
    `select a.reference, a.provider_reference as "providerReference", o.id as "orderId", o.account_id as "accountId"
     from payment_attempt a join plan_order o on o.id = a.order_id
     where a.provider = ? and (a.reference = ? or a.provider_reference in (?, ?)) limit 1`,
    [provider, reference ?? null, id, providerReference ?? null],
  );
  return charge;
}

async function storeMatches(database: Queries, pairs: readonly MatchedPair[], provider: string): Promise<void> {
  const equalPairs = pairs.filter(([entry, stated]) => entry.amount === stated.amount);
  const fees = pairs.flatMap(([{ kind, id }, { fee }]) =>
    kind === 'payment' && fee !== undefined ? [{ id, fee }] : [],
  );
  await database.query(
    `update payment p set fee = m.fee from json_to_recordset(?::json) as m(id text, fee bigint) where p.id::text = m.id`,
    [JSON.stringify(fees)],
  );
  const rows = equalPairs.map(([{ kind, id, provider_id: name }, stated]) => ({
    kind,
    id,
    subjects: [name ?? id, id, stated.id, `${provider}/${stated.id}`],
  }));
  const json = JSON.stringify(rows);
  await database.query(
    `update payment p set reconciled_at = clock_timestamp()
     from json_to_recordset(?::json) as m(kind text, id text) where m.kind = 'payment' and p.id::text = m.id`,
    [json],
  );
  await database.query(
    `update refund r set reconciled_at = clock_timestamp()
     from json_to_recordset(?::json) as m(kind text, id text) where m.kind = 'refund' and r.key = m.id`,
    [json],
  );
  await database.query(
    `update order_flag f set resolved_at = clock_timestamp(), resolution = ?
     from json_to_recordset(?::json) as m(subjects json), json_array_elements_text(m.subjects) as found(subject)
     where f.kind in ('not_in_books', 'not_at_provider') and f.resolved_at is null and f.subject = found.subject`,
    [createInBooksReason(provider), json],
  );
}

async function closeUnlistedFlags(
  database: Queries,
  provider: string,
  { since, until }: TimeSpan,
  onlyTheirs: readonly StatedMovement[],
): Promise<void> {
  await database.query(
    `update order_flag f set resolved_at = clock_timestamp(), resolution = ?
     where f.kind = 'not_in_books' and f.resolved_at is null and f.detail ->> 'provider' = ?
       and (f.detail ->> 'at')::timestamptz >= to_timestamp(?::float8 / 1000)
       and (f.detail ->> 'at')::timestamptz < to_timestamp(?::float8 / 1000)
       and f.subject not in (select json_array_elements_text(?::json))`,
    [createUnlistedReason(provider), provider, +since, +until, JSON.stringify(listFlagSubjects(onlyTheirs, provider))],
  );
}

function listFlagSubjects(movements: readonly StatedMovement[], provider: string): string[] {
  return movements.flatMap(({ id }) => [id, `${provider}/${id}`]);
}

function createInBooksReason(provider: string): string {
  return reason('orders.reason.in_books', { provider });
}

function createUnlistedReason(provider: string): string {
  return reason('orders.reason.unlisted', { provider });
}

async function flagDifferences(
  { database }: Host,
  provider: string,
  onlyOurs: readonly BookEntry[],
  onlyTheirs: readonly StatedMovement[],
  differing: readonly MatchedPair[],
): Promise<void> {
  for (const [entry, stated] of [...onlyOurs.map((absent) => [absent, undefined] as const), ...differing]) {
    const { kind, amount, currency } = entry;
    const detail = { kind, amount, currency, provider, ...(stated !== undefined && { statedAmount: stated.amount }) };
    const order = { orderId: entry.order_id, accountId: entry.account_id };
    await database
      .fork()
      .transactional((transaction) => flagOrder(transaction, order, 'not_at_provider', getFlagSubject(entry), detail));
  }
  for (const movement of onlyTheirs) {
    const { kind, id, reference, amount, currency, at } = movement;
    const detail = {
      kind,
      amount,
      currency,
      provider,
      at: at.toISOString(),
      ...(reference !== undefined && { reference }),
    };
    const order = await findCharge(database, provider, movement);
    await database
      .fork()
      .transactional(async (transaction) =>
        order === undefined
          ? flagForeignMoney(transaction, `${provider}/${id}`, detail)
          : flagOrder(transaction, order, 'not_in_books', id, detail),
      );
  }
  const ours = [...onlyOurs, ...differing.map(([entry]) => entry)];
  for (const kind of ['payment', 'refund'] as const)
    await database.query(
      `update ${kind} set reconciled_at = null
       where reconciled_at is not null
         and ${kind === 'payment' ? 'id in (select json_array_elements_text(?::json)::uuid)' : 'key in (select json_array_elements_text(?::json))'}`,
      [JSON.stringify(ours.filter((entry) => entry.kind === kind).map(({ id }) => id))],
    );
  const subjects = [...ours.map(getFlagSubject), ...listFlagSubjects(onlyTheirs, provider)];
  await database.query(
    `update order_flag f set resolved_at = null, resolution = null from json_array_elements_text(?::json) as differing(subject)
     where f.kind in ('not_in_books', 'not_at_provider') and f.subject = differing.subject and f.resolution in (?)`,
    [JSON.stringify(subjects), [createInBooksReason(provider), createUnlistedReason(provider)]],
  );
}

function getFlagSubject({ kind, id, provider_id: name }: BookEntry): string {
  return kind === 'refund' ? id : (name ?? id);
}

function toDifference(side: 'here' | 'amount', entry: BookEntry, statedAmount: number | undefined): Difference {
  const { kind, id, provider_id: name, reference, amount, currency, at } = entry;
  return { side, kind, id: name ?? id, reference, amount, statedAmount, currency, at: new Date(at) };
}
