import type { EntityManager } from '@mikro-orm/postgresql';
import { AccountError } from '#core/business/accounts/account-error.ts';
import { recordEvent } from '#core/business/accounts/account-events.ts';
import { lockAccount, extendPeriod } from '#core/business/accounts/ledger.ts';
import { periodsInForceSql } from '#core/business/accounts/periods-in-force.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type Database, type Queries, uuid } from '#core/platform/database/database.ts';
import { epoch, epochs, type Row, toRecord } from '#core/platform/database/rows.ts';
import { computeCreditedMs, type CreditSpan } from './credited-time.ts';
import type { OutageRow } from './entities.ts';
import { outagesSection } from './section.ts';

type Execute = <Row>(sql: string, parameters: readonly unknown[]) => Promise<Row[]>;
type CreditHost = Pick<Host, 'database' | 'section'>;

/** An account is affected if it used the model within this time before an outage, or tried to during it. */
const usePeriod = `interval '7 days'`;
const overlapMargin = `interval '2 days'`; // other outages this close may fall on the same days and share the daily limit
const batchSize = 200; // accounts per query, and per turn of the event loop, which takes a few ms

export interface ConfirmedOutage {
  readonly id: string;
  readonly incidentId: string;
  readonly model: string; // public name
  readonly from: Date;
  readonly until: Date;
  /** Confirmed by a probe or by accounts without earlier failures, so it is credited without approval. */
  readonly isConfirmed: boolean;
  readonly creditedAt: Date | undefined; // when all accounts were credited
  readonly declinedAt: Date | undefined;
}

export function isWaiting({ creditedAt, declinedAt }: ConfirmedOutage): boolean {
  return creditedAt === undefined && declinedAt === undefined;
}

type OutageColumns = Row<
  typeof OutageRow,
  'id' | 'incident_id' | 'model' | 'from_at' | 'until_at' | 'is_confirmed' | 'credited_at' | 'declined_at'
>;

const columns = `id, incident_id, model, is_confirmed, ${epochs('o.from_at', 'o.until_at', 'o.credited_at', 'o.declined_at')}`;

export const waitingCondition = 'o.credited_at is null and o.declined_at is null'; // on `outage o`
/** An outage needs no approval if it is confirmed and was found after the first approval. */
const automaticCondition = `(o.is_confirmed and coalesce(o.found_at > (select min(credited_at) from outage), false))`;

const conditions = {
  all: 'true',
  waiting: waitingCondition,
  automatic: `${waitingCondition} and ${automaticCondition}`,
  unapproved: `${waitingCondition} and not ${automaticCondition}`,
} as const;

export async function listOutages(
  database: Queries,
  limit: number,
  which: keyof typeof conditions = 'all',
  after?: string,
): Promise<ConfirmedOutage[]> {
  // Descending by `from_at`, ascending by id, hence the crossed aliases in the comparison.
  const rows = await database.query<OutageColumns>(
    `select ${columns} from outage o where ${conditions[which]} and (?::uuid is null or exists (
       select from outage c where c.id = ?::uuid and (c.from_at, o.id) > (o.from_at, c.id)))
     order by o.from_at desc, o.id limit ?`,
    [after ?? null, after ?? null, limit],
  );
  return rows.map(toOutage);
}

/** @throws AccountError `not_found` */
export async function findOutage(database: Queries, id: string): Promise<ConfirmedOutage> {
  const [row] = uuid.test(id)
    ? await database.query<OutageColumns>(`select ${columns} from outage o where id = ?`, [id])
    : [];
  if (row === undefined) throw new AccountError('not_found', `Outage ${id} not found.`);
  return toOutage(row);
}

function toOutage(row: OutageColumns): ConfirmedOutage {
  const { fromAt: from, untilAt: until, ...outage } = toRecord(row);
  return { ...outage, from, until };
}

/** The index `request_log_model` finds each account's last request in one lookup. */
async function findUncreditedAccounts(database: Queries, { id }: ConfirmedOutage): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `select a.id from outage o join account a on a.blocked_at is null and a.deleted_at is null
     cross join lateral (
       select from request_log r where r.account_id = a.id and coalesce(r.alias_of, r.model) = o.model and r.is_metered
         and r.started_at between o.from_at - ${usePeriod} and o.until_at
       order by r.started_at desc limit 1) used
     where o.id = ? and exists (
       select from ${periodsInForceSql} p where p.account_id = a.id and p.starts_at < o.until_at and p.ends_at > o.from_at)
       and not exists (select from outage_credit c where c.outage_id = o.id and c.account_id = a.id)
     order by a.id`,
    [id],
  );
  return rows.map((row) => row.id);
}

export interface CreditPreview {
  readonly accounts: number;
  readonly seconds: number;
}

export async function previewCredit(host: CreditHost, outage: ConfirmedOutage): Promise<CreditPreview> {
  const { database } = host;
  const execute: Execute = (sql, parameters) => database.query(sql, parameters);
  let [accounts, seconds] = [0, 0];
  const accountIds = await findUncreditedAccounts(database, outage);
  for (let offset = 0; offset < accountIds.length; offset += batchSize)
    for (const owedSeconds of (
      await computeOwedSeconds(execute, host, outage, accountIds.slice(offset, offset + batchSize))
    ).values()) {
      if (owedSeconds > 0) accounts++;
      seconds += owedSeconds;
    }
  return { accounts, seconds };
}

/** An account gets the time only once, even if this runs twice, concurrently, or again after a crash. */
export async function creditOutage(host: CreditHost, outage: ConfirmedOutage): Promise<CreditPreview> {
  const { database } = host;
  let [accounts, seconds] = [0, 0];
  for (const accountId of await findUncreditedAccounts(database, outage)) {
    const creditedSeconds = await database
      .fork()
      .transactional((transaction) => creditAccount(transaction, host, outage, accountId));
    if (creditedSeconds > 0) accounts++;
    seconds += creditedSeconds;
  }
  await database.query(
    'update outage set credited_at = coalesce(credited_at, clock_timestamp()) where id = ? and declined_at is null',
    [outage.id],
  );
  return { accounts, seconds };
}

/** Credits even an outage that was declined before. Throws AccountError `not_found`. */
export async function approveOutage(host: CreditHost, id: string): Promise<CreditPreview> {
  const outage = await findOutage(host.database, id);
  await host.database.query('update outage set declined_at = null where id = ?', [outage.id]);
  return creditOutage(host, outage);
}

/** @throws AccountError `not_found`; `credited` if an account has already been credited */
export async function declineOutage(database: Database, id: string): Promise<void> {
  const outage = await findOutage(database, id);
  await database.fork().transactional(async (transaction) => {
    // Keeps credits from running at the same time: `creditAccount` locks this row too.
    await transaction.execute('select 1 from outage where id = ? for update', [outage.id]);
    const credited = await transaction.execute<unknown[]>(
      `select 1 from outage o where id = ? and (credited_at is not null
         or exists (select from outage_credit c where c.outage_id = o.id))`,
      [outage.id],
    );
    if (credited.length > 0)
      throw new AccountError('credited', 'Customers have already been credited for this outage.');
    await transaction.execute('update outage set declined_at = coalesce(declined_at, clock_timestamp()) where id = ?', [
      outage.id,
    ]);
  });
}

async function creditAccount(
  transaction: EntityManager,
  host: CreditHost,
  outage: ConfirmedOutage,
  accountId: string,
): Promise<number> {
  const { blockedAt, deletedAt } = await lockAccount(transaction, accountId);
  if (blockedAt !== undefined || deletedAt !== undefined) return 0;
  const { id, model, from } = outage;
  const existing = await transaction.execute<unknown[]>(
    'select 1 from outage_credit where outage_id = ? and account_id = ?',
    [id, accountId],
  );
  if (existing.length > 0) return 0;
  const undeclined = await transaction.execute<unknown[]>(
    'select 1 from outage where id = ? and declined_at is null for share',
    [id],
  );
  if (undeclined.length === 0) return 0;
  const execute: Execute = (sql, parameters) => transaction.execute(sql, [...parameters]);
  const seconds = (await computeOwedSeconds(execute, host, outage, [accountId])).get(accountId) ?? 0;
  const note = `${model} was down from ${from.toISOString()}, incident ${outage.incidentId}`;
  const periodId = seconds === 0 ? null : await extendPeriod(transaction, accountId, seconds, note);
  await transaction.execute(
    'insert into outage_credit (outage_id, account_id, seconds, period_id) values (?, ?, ?, ?)',
    [id, accountId, seconds, periodId],
  );
  if (seconds > 0)
    await recordEvent(
      transaction,
      'outage.credited',
      { accountId, outageId: id },
      `outage.credited:${id}:${accountId}`,
    );
  return seconds;
}

/** Computes what the outage adds to earlier credits, for at most `batchSize` accounts. */
async function computeOwedSeconds(
  execute: Execute,
  { section }: CreditHost,
  { id, from, until }: ConfirmedOutage,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const spans = await execute<SpanOfAccount>(
    `select c.account_id, ${epochs('o.from_at', 'o.until_at')} from outage_credit c join outage o on o.id = c.outage_id
     where c.account_id in (?) and o.id <> ? and exists (
       select from outage n where n.id = ? and o.until_at > n.from_at - ${overlapMargin} and o.from_at < n.until_at + ${overlapMargin})`,
    [accountIds, id, id],
  );
  const periods = await execute<SpanOfAccount>(
    `select account_id, ${epoch('starts_at')} as from_at, ${epoch('ends_at')} as until_at from ${periodsInForceSql} p
     where account_id in (?)`,
    [accountIds],
  );
  const [creditsByAccount, periodsByAccount] = [groupSpans(spans), groupSpans(periods)];
  const maxMsPerDay = section(outagesSection).max_minutes_per_day * 60_000;
  const timeZone = section(service).time_zone;
  const computeOwed = (accountId: string): number => {
    const [credited, paid] = [creditsByAccount.get(accountId) ?? [], periodsByAccount.get(accountId) ?? []];
    const total = computeCreditedMs([...credited, [from.getTime(), until.getTime()]], paid, maxMsPerDay, timeZone);
    return Math.max(0, Math.floor((total - computeCreditedMs(credited, paid, maxMsPerDay, timeZone)) / 1_000));
  };
  return new Map(accountIds.map((accountId) => [accountId, computeOwed(accountId)]));
}

interface SpanOfAccount {
  readonly account_id: string;
  readonly from_at: number;
  readonly until_at: number;
}

function groupSpans(rows: readonly SpanOfAccount[]): ReadonlyMap<string, CreditSpan[]> {
  const byAccount = Map.groupBy(rows, (row) => row.account_id);
  return new Map(
    [...byAccount].map(([id, spans]) => [id, spans.map(({ from_at: from, until_at: until }) => [from, until])]),
  );
}

export async function readCreditedMsByIncident(database: Queries, since: number): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query<{ incident_id: string; ms: number }>(
    `select incident_id, sum(extract(epoch from until_at - from_at) * 1000)::float8 as ms from outage
     where credited_at is not null and until_at > to_timestamp(? / 1000.0) group by incident_id`,
    [since],
  );
  return new Map(rows.map(({ incident_id: id, ms }) => [id, ms]));
}

export interface AccountCredit {
  readonly model: string; // public name
  readonly seconds: number;
  readonly fromAt: Date;
}

export async function listCredits(database: Queries, accountId: string, days: number): Promise<AccountCredit[]> {
  const rows = await database.query<{ model: string; seconds: number; from_at: number }>(
    `select o.model, c.seconds, ${epochs('o.from_at')} from outage_credit c join outage o on o.id = c.outage_id
     where c.account_id = ? and c.seconds > 0 and c.created_at > clock_timestamp() - make_interval(days => ?)
     order by o.from_at desc limit 20`,
    [accountId, days],
  );
  return rows.map(toRecord);
}
