import { epoch, epochs, type RowOf, toRecord } from '#core/platform/database/rows.ts';
import { periodsInForceSql } from '../accounts/periods-in-force.ts';
import type { PlanOrder } from './entities.ts';
import type { Gift, Order, OrderFlag, OrderRefund, Payment, PaymentAttempt } from './order-types.ts';

/** SQL expression for a JSON object with columns of `x`. Times are in epoch ms. */
const buildJsonObject = (columns: readonly string[], times: readonly string[], ...extraMembers: readonly string[]) =>
  `json_build_object(${[...columns.map((name) => `'${name}', x.${name}`), ...times.map((name) => `'${name}', ${epoch(`x.${name}`)}`), ...extraMembers].join(', ')})`;

const buildJsonList = (table: string, columns: readonly string[], times: readonly string[], orderBy: string) =>
  `(select coalesce(json_agg(${buildJsonObject(columns, times)} order by ${orderBy}), '[]') from ${table} x where x.order_id = o.id)`;

const giftStateSql = `case when x.redeemed_at is not null then 'redeemed' when x.revoked_at is not null then 'revoked'
  when x.expires_at <= clock_timestamp() then 'expired' else 'open' end`;

/** SQL columns of an order `o`, including what other tables hold about it. */
export const orderColumns = `
  o.id, o.code, o.account_id, o.days, o.price::float8 as price, o.currency, o.label, o.limits, o.provider,
  o.is_gift, o.state, o.is_late, ${epochs('o.created_at', 'o.expires_at', 'o.paid_at')},
  ${epoch('clock_timestamp()')} as read_at,
  (select ${buildJsonObject(['reference', 'provider_reference', 'number', 'charge', 'qr', 'payment_url', 'amount', 'currency', 'error'], ['expires_at', 'checked_at'])}
    from payment_attempt x where x.order_id = o.id order by x.number desc limit 1) as attempt,
  (select ${buildJsonObject([], ['starts_at', 'ends_at'])} from ${periodsInForceSql} x where x.order_id = o.id
    -- Excludes time that was credited after the end of the bought period.
    order by x.starts_at limit 1) as period,
  (select ${buildJsonObject(['hint'], ['expires_at', 'redeemed_at', 'revoked_at'], `'redeemed_by', x.account_id, 'state', ${giftStateSql}`)}
    from voucher x where x.order_id = o.id) as gift,
  ${buildJsonList('payment', ['id', 'reference', 'payment_id', 'amount', 'currency', 'issuer', 'outcome', 'fee'], ['paid_at'], 'x.recorded_at, x.id')} as payments,
  ${buildJsonList('order_flag', ['id', 'kind', 'subject', 'resolution', 'outcome'], ['created_at', 'resolved_at'], 'x.created_at, x.id')} as flags,
  ${buildJsonList('refund', ['key', 'payment_id', 'amount', 'currency', 'state', 'days', 'is_manual', 'reason'], ['created_at', 'finished_at'], 'x.created_at, x.key')} as refunds`;

export type OrderRow = RowOf<
  Omit<Order, 'attempt' | 'period' | 'gift' | 'payments' | 'flags' | 'refunds'>,
  typeof PlanOrder
> & {
  readonly attempt: object | null;
  readonly period: object | null;
  readonly gift: object | null;
  readonly payments: readonly object[];
  readonly flags: readonly object[];
  readonly refunds: readonly object[];
};

export function toOrder({ attempt, period, gift, payments, flags, refunds, ...row }: OrderRow): Order {
  const currentPeriod = period === null ? undefined : (toRecord(period) as Order['period']);
  return {
    ...toRecord(row),
    attempt: attempt === null ? undefined : (toRecord(attempt) as PaymentAttempt),
    period: gift === null ? currentPeriod : undefined,
    gift: gift === null ? undefined : { ...(toRecord(gift) as Omit<Gift, 'period'>), period: currentPeriod },
    payments: payments.map(toRecord) as Payment[],
    flags: flags.map(toRecord) as OrderFlag[],
    refunds: refunds.map(toRecord) as OrderRefund[],
  };
}
