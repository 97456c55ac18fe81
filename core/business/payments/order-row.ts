import { periodsInForce } from '../accounts/periods-in-force.ts';
import type { Order, OrderFlag, OrderRefund, Payment, PaymentAttempt } from './order-types.ts';
import { epoch, epochs, type Row } from '#core/platform/database/rows.ts';
import type { PlanOrder } from './entities.ts';

/** What belongs to the order `o` in another table, oldest first, as a JSON array of arrays. */
const list = (table: string, columns: readonly string[], order: string) =>
  `(select coalesce(json_agg(json_build_array(${columns.join(', ')}) order by ${order}), '[]')::text
    from ${table} x where x.order_id = o.id)`;

/** The columns of an order `o`, with what belongs to it. */
export const orderColumns = `
  o.id, o.code, o.account_id, o.days, o.price::float8 as price, o.currency, o.label, o.limits::text as limits, o.provider,
  o.state, o.is_late, ${epochs('o.created_at', 'o.expires_at', 'o.paid_at')},
  ${epoch('clock_timestamp()')} as read_at,
  (select json_build_array(x.reference, x.provider_reference, x.number, x.charge, x.qr, x.payment_url, x.amount, x.currency,
      ${epoch('x.expires_at')}, ${epoch('x.checked_at')}, x.error)::text
    from payment_attempt x where x.order_id = o.id order by x.number desc limit 1) as attempt,
  (select json_build_array(${epoch('x.starts_at')}, ${epoch('x.ends_at')})::text
    from ${periodsInForce} x where x.order_id = o.id) as period,
  ${list('payment', ['x.id', 'x.reference', 'x.payment_id', 'x.amount', 'x.currency', epoch('x.paid_at'), 'x.issuer', 'x.outcome', 'x.fee'], 'x.recorded_at, x.id')} as payments,
  ${list('order_flag', ['x.id', 'x.kind', 'x.subject', epoch('x.created_at'), epoch('x.resolved_at'), 'x.resolution'], 'x.created_at, x.id')} as flags,
  ${list('refund', ['x.key', 'x.payment_id', 'x.amount', 'x.currency', 'x.state', 'x.days', 'x.is_manual', 'x.reason', epoch('x.created_at'), epoch('x.finished_at')], 'x.created_at, x.key')} as refunds`;

/** A row of `orderColumns`. */
export type OrderRow = Row<
  typeof PlanOrder,
  | 'id'
  | 'code'
  | 'account_id'
  | 'days'
  | 'price'
  | 'currency'
  | 'label'
  | 'provider'
  | 'state'
  | 'is_late'
  | 'created_at'
  | 'expires_at'
  | 'paid_at'
> & {
  readonly limits: string | null;
  readonly read_at: number;
  readonly attempt: string | null;
  readonly period: string | null;
  readonly payments: string;
  readonly flags: string;
  readonly refunds: string;
};

export function toOrder(row: OrderRow): Order {
  return {
    id: row.id,
    code: row.code,
    accountId: row.account_id,
    days: row.days,
    price: row.price,
    currency: row.currency,
    label: row.label ?? undefined,
    limits: row.limits === null ? undefined : (JSON.parse(row.limits) ?? undefined),
    provider: row.provider,
    state: row.state,
    isLate: row.is_late,
    createdAt: new Date(row.created_at),
    expiresAt: new Date(row.expires_at),
    paidAt: toDate(row.paid_at),
    readAt: new Date(row.read_at),
    attempt: row.attempt === null ? undefined : toAttempt(JSON.parse(row.attempt)),
    period: row.period === null ? undefined : toPeriod(JSON.parse(row.period)),
    payments: JSON.parse(row.payments).map(toPayment),
    flags: JSON.parse(row.flags).map(toFlag),
    refunds: JSON.parse(row.refunds).map(toRefund),
  };
}

type Nullable<T> = T | null;

function toDate(time: number | null): Date | undefined {
  return time === null ? undefined : new Date(time);
}

function toPeriod([startsAt, endsAt]: [number, number]): Order['period'] {
  return { startsAt: new Date(startsAt), endsAt: new Date(endsAt) };
}

function toAttempt([reference, providerReference, number, charge, qr, paymentUrl, amount, currency, ...rest]: [
  string,
  Nullable<string>,
  number,
  PaymentAttempt['charge'],
  Nullable<string>,
  Nullable<string>,
  number,
  string,
  number,
  Nullable<number>,
  Nullable<string>,
]): PaymentAttempt {
  const [expiresAt, checkedAt, error] = rest;
  return {
    reference,
    providerReference: providerReference ?? undefined,
    number,
    charge,
    qr: qr ?? undefined,
    paymentUrl: paymentUrl ?? undefined,
    amount,
    currency,
    expiresAt: new Date(expiresAt),
    checkedAt: toDate(checkedAt),
    error: error ?? undefined,
  };
}

function toPayment([id, reference, paymentId, amount, currency, paidAt, issuer, outcome, fee]: [
  string,
  string,
  string,
  number,
  string,
  number,
  Nullable<string>,
  Payment['outcome'],
  Nullable<number>,
]): Payment {
  const known = { paidAt: new Date(paidAt), issuer: issuer ?? undefined, fee: fee ?? undefined };
  return { id, reference, paymentId, amount, currency, outcome, ...known };
}

function toFlag([id, kind, subject, createdAt, resolvedAt, resolution]: [
  string,
  OrderFlag['kind'],
  string,
  number,
  Nullable<number>,
  Nullable<string>,
]): OrderFlag {
  const resolved = { resolvedAt: toDate(resolvedAt), resolution: resolution ?? undefined };
  return { id, kind, subject, createdAt: new Date(createdAt), ...resolved };
}

function toRefund([key, paymentId, amount, currency, state, days, isManual, reason, createdAt, finishedAt]: [
  string,
  string,
  number,
  string,
  OrderRefund['state'],
  OrderRefund['days'],
  boolean,
  string,
  number,
  Nullable<number>,
]): OrderRefund {
  const times = { createdAt: new Date(createdAt), finishedAt: toDate(finishedAt) };
  return { key, paymentId, amount, currency, state, days, isManual, reason, ...times };
}
