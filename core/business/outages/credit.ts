import type { EntityManager } from '@mikro-orm/postgresql';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type Database, uuid } from '#core/platform/database/database.ts';
import { epochs } from '#core/platform/database/rows.ts';
import { AccountError } from '../accounts/account-error.ts';
import { recordEvent } from '../accounts/account-events.ts';
import { lockAccount, prolongPeriod } from '../accounts/ledger.ts';
import { periodsInForce } from '../accounts/periods-in-force.ts';
import { creditedTime, type CreditSpan } from './credited-time.ts';
import { outagesSection } from './section.ts';

type Queries = Pick<Database, 'query'>;
type Execute = <Row>(sql: string, parameters: readonly unknown[]) => Promise<Row[]>;
type CreditHost = Pick<Host, 'database' | 'section'>;

/** Before an outage, the time within which an account must have used the model, unless it tried to during it. */
const usedWithin = `interval '7 days'`;
/** Around an outage, others that may share its days with it. */
const nearby = `interval '2 days'`;

export interface ConfirmedOutage {
  readonly id: string;
  readonly incidentId: string;
  readonly model: string; // public name
  readonly from: Date;
  readonly until: Date;
  /** Undefined: nobody has had time back, or not all. */
  readonly creditedAt: Date | undefined;
}

interface OutageColumns {
  readonly id: string;
  readonly incident_id: string;
  readonly model: string;
  readonly from_at: number;
  readonly until_at: number;
  readonly credited_at: number | null;
}

const columns = `id, incident_id, model, ${epochs('o.from_at', 'o.until_at', 'o.credited_at')}`;

/** The newest first. @param limit at most 500 */
export async function listOutages(database: Queries, limit: number): Promise<ConfirmedOutage[]> {
  const rows = await database.query<OutageColumns>(
    `select ${columns} from outage o order by o.from_at desc, id limit ?`,
    [Math.min(limit, 500)],
  );
  return rows.map(toOutage);
}

/** @throws AccountError `not_found` */
export async function findOutage(database: Queries, id: string): Promise<ConfirmedOutage> {
  const [row] = uuid.test(id)
    ? await database.query<OutageColumns>(`select ${columns} from outage o where id = ?`, [id])
    : [];
  if (row === undefined) throw new AccountError('not_found', `There is no outage ${id}.`);
  return toOutage(row);
}

function toOutage(row: OutageColumns): ConfirmedOutage {
  return {
    id: row.id,
    incidentId: row.incident_id,
    model: row.model,
    from: new Date(row.from_at),
    until: new Date(row.until_at),
    creditedAt: row.credited_at === null ? undefined : new Date(row.credited_at),
  };
}

/** Whom an outage has hit: accounts with paid time in it that used the model, or tried to; neither blocked nor deleted ones. */
async function findHit(database: Queries, { id }: ConfirmedOutage): Promise<string[]> {
  const rows = await database.query<{ account_id: string }>(
    `select distinct r.account_id from outage o join request_log r on coalesce(r.alias_of, r.model) = o.model
       and r.is_metered and r.started_at between o.from_at - ${usedWithin} and o.until_at
     join account a on a.id = r.account_id
     where o.id = ? and a.blocked_at is null and a.deleted_at is null and exists (
       select from ${periodsInForce} p where p.account_id = a.id and p.starts_at < o.until_at and p.ends_at > o.from_at)
     order by r.account_id`,
    [id],
  );
  return rows.map((row) => row.account_id);
}

/** What crediting an outage would give, or has given. */
export interface CreditPreview {
  readonly accounts: number;
  readonly seconds: number;
}

/** What each account would get now, without giving it. */
export async function previewCredit(host: CreditHost, outage: ConfirmedOutage): Promise<CreditPreview> {
  const { database } = host;
  const execute: Execute = (sql, parameters) => database.query(sql, parameters);
  let [accounts, seconds] = [0, 0];
  for (const accountId of await findHit(database, outage)) {
    const owed = await secondsOwed(execute, host, outage, accountId);
    if (owed > 0) accounts++;
    seconds += owed;
  }
  return { accounts, seconds };
}

/**
 * Gives the time of an outage back to all whom it has hit, each in a transaction with the row that says so: run twice, at once, or
 * again after a crash, an account gets it once.
 */
export async function creditOutage(host: CreditHost, outage: ConfirmedOutage): Promise<CreditPreview> {
  const { database } = host;
  let [accounts, seconds] = [0, 0];
  for (const accountId of await findHit(database, outage)) {
    const given = await database
      .fork()
      .transactional((transaction) => creditAccount(transaction, host, outage, accountId));
    if (given > 0) accounts++;
    seconds += given;
  }
  await database.query('update outage set credited_at = coalesce(credited_at, clock_timestamp()) where id = ?', [
    outage.id,
  ]);
  return { accounts, seconds };
}

async function creditAccount(
  transaction: EntityManager,
  host: CreditHost,
  outage: ConfirmedOutage,
  accountId: string,
): Promise<number> {
  await lockAccount(transaction, accountId);
  const { id, model, from } = outage;
  const earlier = await transaction.execute<unknown[]>(
    'select 1 from outage_credit where outage_id = ? and account_id = ?',
    [id, accountId],
  );
  if (earlier.length > 0) return 0;
  const execute: Execute = (sql, parameters) => transaction.execute(sql, [...parameters]);
  const seconds = await secondsOwed(execute, host, outage, accountId);
  const note = `${model} was down from ${from.toISOString()}, incident ${outage.incidentId}`;
  const periodId = seconds === 0 ? null : await prolongPeriod(transaction, accountId, seconds, note);
  await transaction.execute(
    'insert into outage_credit (outage_id, account_id, seconds, period_id) values (?, ?, ?, ?)',
    [id, accountId, seconds, periodId],
  );
  if (seconds > 0 && host.section(outagesSection).mail)
    await recordEvent(
      transaction,
      'outage.credited',
      { accountId, outageId: id },
      `outage.credited:${id}:${accountId}`,
    );
  return seconds;
}

/** What an outage adds to what an account has had back, 0 or more whole seconds. */
async function secondsOwed(
  execute: Execute,
  { section }: CreditHost,
  { id, from, until }: ConfirmedOutage,
  accountId: string,
): Promise<number> {
  const spans = await execute<{ from_at: number; until_at: number; seconds: number }>(
    `select ${epochs('o.from_at', 'o.until_at')}, c.seconds from outage_credit c join outage o on o.id = c.outage_id
     where c.account_id = ? and o.id <> ? and exists (
       select from outage n where n.id = ? and o.until_at > n.from_at - ${nearby} and o.from_at < n.until_at + ${nearby})`,
    [accountId, id, id],
  );
  const periods = await execute<{ starts_at: number; ends_at: number }>(
    `select ${epochs('p.starts_at', 'p.ends_at')} from ${periodsInForce} p where account_id = ?`,
    [accountId],
  );
  const paid = periods.map(({ starts_at: starts, ends_at: ends }): CreditSpan => [starts, ends]);
  const credited = spans.map((span): CreditSpan => [span.from_at, span.until_at]);
  const most = section(outagesSection).max_minutes_per_day * 60_000;
  const zone = section(service).time_zone;
  const all = creditedTime([...credited, [from.getTime(), until.getTime()]], paid, most, zone);
  return Math.max(0, Math.floor((all - creditedTime(credited, paid, most, zone)) / 1_000));
}

/** Whether an operator has approved a credit before: then the next ones need no approval. */
export async function hasCredited(database: Queries): Promise<boolean> {
  return (await database.query('select 1 from outage where credited_at is not null limit 1')).length > 0;
}

/** Ms of the outages of each incident whose time was given back since then. @param since epoch ms */
export async function creditedIncidents(database: Queries, since: number): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query<{ incident_id: string; ms: number }>(
    `select incident_id, sum(extract(epoch from until_at - from_at) * 1000)::float8 as ms from outage
     where credited_at is not null and until_at > to_timestamp(? / 1000.0) group by incident_id`,
    [since],
  );
  return new Map(rows.map(({ incident_id: id, ms }) => [id, ms]));
}

/** Time that an account got back. */
export interface CreditedTime {
  readonly model: string; // public name
  readonly from: Date;
  readonly seconds: number;
  readonly creditedAt: Date;
}

/** What an account got back lately, the newest first. */
export async function listCredits(database: Queries, accountId: string, days: number): Promise<CreditedTime[]> {
  const rows = await database.query<{ model: string; from_at: number; seconds: number; created_at: number }>(
    `select o.model, c.seconds, ${epochs('o.from_at', 'c.created_at')} from outage_credit c join outage o on o.id = c.outage_id
     where c.account_id = ? and c.seconds > 0 and c.created_at > clock_timestamp() - make_interval(days => ?)
     order by o.from_at desc limit 20`,
    [accountId, days],
  );
  return rows.map(({ model, seconds, ...row }) => ({
    model,
    seconds,
    from: new Date(row.from_at),
    creditedAt: new Date(row.created_at),
  }));
}
