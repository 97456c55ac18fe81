import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epoch, epochs, type Row } from '#core/platform/database/rows.ts';
import { recordEvent } from '../accounts/account-events.ts';
import type { OrderFlag, PlanOrder } from './entities.ts';
import type { FlagKind, FlagOutcome, Order } from './order-types.ts';
import type { TimeSpan } from './payment-provider.ts';
import { paymentsSection } from './section.ts';

const decisionKinds = new Set<string>(['second_payment', 'wrong_amount', 'wrong_currency', 'wrong_reference']);

/** Returns true for flags about money that bought nothing. The order's page promises the buyer a decision by `computeDecisionDeadline`. */
export function isDecisionPromised(kind: string): boolean {
  return decisionKinds.has(kind);
}

interface FlagDetail {
  readonly kind?: 'payment' | 'refund';
  readonly amount?: number;
  readonly statedAmount?: number; // according to the provider's books
  readonly currency?: string;
  readonly provider?: string;
  readonly reference?: string;
  readonly at?: string; // RFC 3339
}

/** Flags an order for operators, once per subject: the id of the payment, or the key of the refund, that the flag is about. */
export async function flagOrder(
  transaction: EntityManager,
  { orderId, accountId }: { readonly orderId: string; readonly accountId: string },
  kind: FlagKind,
  subject = '',
  detail: FlagDetail = {},
): Promise<void> {
  const id = randomUUIDv7();
  const insertedRows = await transaction.execute<unknown[]>(
    `insert into order_flag (id, order_id, kind, subject, detail) values (?, ?, ?, ?, ?::jsonb)
     on conflict (order_id, kind, subject) do nothing returning 1`,
    [id, orderId, kind, subject, JSON.stringify(detail)],
  );
  if (insertedRows.length > 0)
    await recordEvent(
      transaction,
      'order.flagged',
      { orderId, accountId, reason: kind, flagId: id },
      `order.flagged:${id}`,
    );
}

/**
 * Flags money at a provider that belongs to no order, once. Only the first flag of a kind per day is recorded as an event, because another
 * system may use the same provider account for any number of payments.
 *
 * @param subject provider, and id of the payment or refund: `xendit/py-123`
 * @returns true if the flag is new
 */
export async function flagForeignMoney(
  transaction: EntityManager,
  subject: string,
  detail: Required<Pick<FlagDetail, 'kind' | 'amount' | 'currency' | 'provider' | 'at'>> &
    Pick<FlagDetail, 'reference'>,
): Promise<boolean> {
  const id = randomUUIDv7();
  const [inserted] = await transaction.execute<{ day: string }[]>(
    `insert into order_flag (id, kind, subject, detail) values (?, 'not_in_books', ?, ?::jsonb)
     on conflict (kind, subject) where order_id is null do nothing
     returning to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day`,
    [id, subject, JSON.stringify(detail)],
  );
  if (inserted === undefined) return false;
  const { kind, amount, currency, provider } = detail;
  const dedupeKey = `payment.unknown:${provider}:${kind}:${inserted.day}`;
  await recordEvent(transaction, 'payment.unknown', { provider, kind, amount, currency }, dedupeKey);
  return true;
}

/**
 * Resolves open flags. If an order's current charge was paid with the wrong amount or currency, the order is canceled, because that charge
 * cannot be paid again.
 *
 * @param id a flag's id, or the id of an order to resolve all of its flags
 * @param resolution the operator's note, for bookkeeping
 * @param outcome the decision reported to the buyer about money that bought nothing; default: only that there was a decision
 * @returns how many flags were resolved
 */
export async function resolveFlag(
  database: Queries,
  id: string,
  resolution: string,
  outcome?: FlagOutcome,
): Promise<number> {
  const [row] = await database.query<{ resolved: number }>(
    buildResolveStatement('(id::text = ? or order_id::text = ?)', 'case when kind in (?) then ?::text end'),
    [resolution, [...decisionKinds], outcome ?? null, id, id],
  );
  return row?.resolved ?? 0;
}

export async function resolveFlags(
  transaction: EntityManager,
  orderId: string,
  flags: readonly { readonly kind: FlagKind; readonly subject: string }[],
  resolution: string,
): Promise<void> {
  await transaction.execute(
    buildResolveStatement(
      'order_id = ? and (kind, subject) in (select kind, subject from json_to_recordset(?::json) as f(kind text, subject text))',
    ),
    [resolution, orderId, JSON.stringify(flags)],
  );
}

/** The first parameter of the statement is the resolution; those of `outcome` and `condition` follow. */
function buildResolveStatement(condition: string, outcome = 'null'): string {
  return `with resolved as (
       update order_flag set resolved_at = clock_timestamp(), resolution = ?, outcome = ${outcome}
       where ${condition} and resolved_at is null returning order_id, kind
     ), cancelled as (
       update plan_order o set state = 'cancelled'
       where o.state in ('created', 'pending')
         and o.id in (select order_id from resolved where kind in ('wrong_amount', 'wrong_currency'))
         and exists (
           select 1 from payment p where p.outcome in ('wrong_amount', 'wrong_currency') and p.reference =
             (select reference from payment_attempt where order_id = o.id order by number desc limit 1))
     )
     select count(*)::int as resolved from resolved`;
}

/** An unresolved flag, with the details that an operator needs for a decision. */
export interface OpenFlag {
  readonly id: string;
  readonly kind: FlagKind;
  readonly subject: string;
  readonly createdAt: Date;
  readonly order: FlaggedOrder | undefined; // undefined for money at the provider that belongs to no order
  /** The payment or refund that the flag is about, if it is on record or in the provider's books. */
  readonly money: FlaggedMoney | undefined;
}

export interface FlaggedMoney {
  readonly kind: 'payment' | 'refund';
  readonly amount: number;
  readonly currency: string;
  readonly statedAmount: number | undefined; // amount in the provider's books, if it differs from ours
}

interface FlaggedOrder extends Pick<Order, 'id' | 'code' | 'accountId' | 'days' | 'price' | 'currency'> {
  readonly buyer: string; // email address; the name if there is none
}

// Missing and wrong payments are more urgent than duplicate ones.
const severities: Readonly<Record<FlagKind, 'bad' | 'warn'>> = {
  wrong_amount: 'bad',
  wrong_currency: 'bad',
  disputed: 'bad',
  refund_failed: 'bad',
  refund_unconfirmed: 'warn',
  reversed: 'bad',
  invalid_qr: 'bad',
  unusual_qr: 'warn',
  gift_without_code: 'warn',
  second_payment: 'warn',
  wrong_reference: 'warn',
  deleted_account: 'warn',
  refunded_twice: 'bad',
  not_in_books: 'bad',
  not_at_provider: 'bad',
};

export function severityOfFlag(kind: FlagKind): 'bad' | 'warn' {
  return severities[kind];
}

/** Returns the deadline by which a buyer was promised a decision on an order flagged at the given time. */
export function computeDecisionDeadline({ section }: Pick<Host, 'section'>, flaggedAt: Date): Date {
  return new Date(flaggedAt.getTime() + section(paymentsSection).decision_hours * 3_600_000);
}

/** Kinds of flags that are listed first. */
export const severeFlagKinds = Object.entries(severities).flatMap(([kind, severity]) =>
  severity === 'bad' ? [kind] : [],
);

const selectFlagsSql = (extraColumn = 'null as extra') => `
  select ${extraColumn}, f.id, f.kind, f.subject, ${epochs('f.created_at')}, f.order_id,
    o.code, o.account_id, coalesce(a.email, a.name) as buyer, o.days, o.price::float8 as price, o.currency,
    coalesce(p.amount, r.amount, (f.detail ->> 'amount')::bigint)::float8 as amount,
    coalesce(nullif(p.currency, ''), r.currency, f.detail ->> 'currency') as money_currency,
    case when r.key is not null or f.detail ->> 'kind' = 'refund' then 'refund' else 'payment' end as money_kind,
    (f.detail ->> 'statedAmount')::float8 as stated_amount
  from order_flag f left join plan_order o on o.id = f.order_id left join account a on a.id = o.account_id
    left join payment p on p.order_id = f.order_id
      and (p.payment_id = f.subject or f.kind = 'deleted_account' and p.outcome = 'activated')
    left join refund r on r.key = f.subject`;

type FlagRow = Row<typeof OrderFlag, 'id' | 'kind' | 'subject' | 'created_at' | 'order_id'> &
  Row<typeof PlanOrder, 'code' | 'account_id' | 'days' | 'price' | 'currency'> & {
    readonly buyer: string;
    readonly amount: number | null;
    readonly money_currency: string | null;
    readonly money_kind: FlaggedMoney['kind'];
    readonly stated_amount: number | null;
  };

type FlagScope = 'orders' | 'no order' | 'both';

const scopeConditions: Readonly<Record<FlagScope, string>> = {
  orders: 'f.order_id is not null',
  'no order': 'f.order_id is null',
  both: 'true',
};

/** Lists unresolved flags, the most urgent first, and the oldest first among equals. `total` includes flags beyond the limit. */
export async function listOpenFlags(
  database: Queries,
  limit: number,
  scope: FlagScope = 'both',
): Promise<{ readonly flags: readonly OpenFlag[]; readonly total: number }> {
  const rows = await database.query<FlagRow & { total: number }>(
    `select *, count(*) over ()::float8 as total from (${selectFlagsSql()} where f.resolved_at is null and ${scopeConditions[scope]}) x
     order by kind in (?) desc, created_at, id limit ?`,
    [severeFlagKinds, limit],
  );
  return { flags: rows.map(toFlag), total: rows[0]?.total ?? 0 };
}

/** Money that appears in only one side's books, or in both with different amounts. */
export interface FlaggedDifference extends OpenFlag {
  readonly side: 'here' | 'provider' | 'amount';
  readonly at: Date;
  readonly isOpen: boolean;
}

/** Lists differences between our books and the provider's, resolved or not, oldest first. `total` includes those beyond the limit. */
export async function listDifferences(
  database: Queries,
  { since, until }: TimeSpan,
  limit: number,
): Promise<{ readonly differences: readonly FlaggedDifference[]; readonly total: number }> {
  const timeSql = `coalesce((f.detail ->> 'at')::timestamptz, p.paid_at, r.finished_at)`;
  const rows = await database.query<FlagRow & { total: number; at: number; is_open: boolean }>(
    `select *, count(*) over ()::float8 as total from (
       ${selectFlagsSql(`${epoch(timeSql)} as at, f.resolved_at is null as is_open`)}
       where f.kind in ('not_in_books', 'not_at_provider')
         and ${timeSql} >= to_timestamp(?::float8 / 1000) and ${timeSql} < to_timestamp(?::float8 / 1000)
     ) x order by at, id limit ?`,
    [since.getTime(), until.getTime(), limit],
  );
  const differences = rows.map((row) => ({
    ...toFlag(row),
    side: findSide(row),
    at: new Date(row.at),
    isOpen: row.is_open,
  })) satisfies FlaggedDifference[];
  return { differences, total: rows[0]?.total ?? 0 };
}

function findSide({ kind, stated_amount: statedAmount }: FlagRow): FlaggedDifference['side'] {
  if (statedAmount !== null) return 'amount';
  return kind === 'not_in_books' ? 'provider' : 'here';
}

/** Finds a flag, resolved or not, and the id of its order. */
export async function findFlag(
  database: Queries,
  id: string,
): Promise<{ readonly id: string; readonly kind: string; readonly orderId: string | undefined } | undefined> {
  const [row] = await database.query<Row<typeof OrderFlag, 'id' | 'kind' | 'order_id'>>(
    'select id, kind, order_id from order_flag where id::text = ?',
    [id],
  );
  return row && { id: row.id, kind: row.kind, orderId: row.order_id ?? undefined };
}

export async function findOpenFlag(database: Queries, id: string): Promise<OpenFlag | undefined> {
  const [row] = await database.query<FlagRow>(`${selectFlagsSql()} where f.resolved_at is null and f.id::text = ?`, [
    id,
  ]);
  return row && toFlag(row);
}

function toFlag(flag: FlagRow): OpenFlag {
  const { amount, money_currency: currency, money_kind: kind, stated_amount: stated, order_id: orderId, ...row } = flag;
  return {
    id: row.id,
    kind: row.kind,
    subject: row.subject,
    createdAt: new Date(row.created_at),
    // If there is no order, its columns are null.
    order: orderId === null ? undefined : toFlaggedOrder(orderId, row),
    money:
      amount === null
        ? undefined
        : { kind, amount, currency: currency ?? row.currency, statedAmount: stated ?? undefined },
  };
}

function toFlaggedOrder(
  id: string,
  row: Pick<FlagRow, 'code' | 'account_id' | 'buyer' | 'days' | 'price' | 'currency'>,
): FlaggedOrder {
  const { code, account_id: accountId, buyer, days, price, currency } = row;
  return { id, code, accountId, buyer, days, price, currency };
}
