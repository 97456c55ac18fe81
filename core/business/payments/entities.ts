import { defineEntity, p } from '@mikro-orm/core';
import type { RateLimits } from '#core/gateway/facts.ts';
import { impersonal, personal } from '#core/platform/database/personal.ts';
import { Account } from '../accounts/entities.ts';
import {
  flagKinds,
  flagOutcomes,
  type OrderLine,
  type OrderRefund,
  orderStates,
  type PaymentAttempt as Attempt,
  paymentOutcomes,
  type DaysBack,
} from './order-types.ts';

const chargeStates = ['unknown', 'none', 'created', 'rejected'] as const satisfies readonly Attempt['charge'][];
const refundStates = ['asked', 'sent', 'done', 'failed'] as const satisfies readonly OrderRefund['state'][];

const recordedAt = p.datetime().defaultRaw('clock_timestamp()');

/** A sale at the price and terms in effect when it was placed: a later price change does not affect an open order. */
export const PlanOrder = defineEntity({
  name: 'PlanOrder',
  properties: {
    id: p.uuid().primary(),
    /** Human-readable code. */
    code: impersonal(p.text().unique()),
    account: () => p.manyToOne(Account),
    days: p.integer().check('days > 0'),
    price: p.bigint('number').check('price > 0'),
    currency: impersonal(p.text().check(`currency ~ '^[A-Z]{3}$'`)),
    label: impersonal(p.text().nullable()),
    limits: impersonal(p.json<RateLimits>().nullable()),
    provider: impersonal(p.text()),
    /** True if the days go to the account that redeems the voucher, not to the buyer. */
    isGift: p.boolean().default(false),
    state: p.enum(orderStates).default('created'),
    /** True if it was paid after it had expired, failed or been canceled. */
    isLate: p.boolean().default(false),
    createdAt: recordedAt,
    expiresAt: p.datetime(),
    paidAt: p.datetime().nullable(),
  },
  indexes: [
    {
      name: 'plan_order_account',
      expression: 'create index plan_order_account on plan_order (account_id, created_at desc, id desc)',
    },
    { name: 'plan_order_open', properties: 'expiresAt', where: `state in ('created', 'pending')` },
    {
      name: 'plan_order_created',
      properties: ['createdAt', 'id'],
      columns: [
        { name: 'created_at', sort: 'DESC' },
        { name: 'id', sort: 'DESC' },
      ],
    },
  ],
  checks: [{ name: 'plan_order_check', expression: `(state in ('paid', 'refunded')) = (paid_at is not null)` }],
});

/** Lines that plugins add to an order when it is placed. In a separate table, because the order's row is locked before the account. */
export const OrderLines = defineEntity({
  name: 'OrderLines',
  tableName: 'order_lines',
  properties: {
    order: () => p.manyToOne(PlanOrder).primary(),
    lines: personal(p.json<readonly OrderLine[]>()),
  },
});

/** One charge at the provider. */
export const PaymentAttempt = defineEntity({
  name: 'PaymentAttempt',
  properties: {
    /** Our reference for it at the provider. */
    reference: impersonal(p.text().primary()),
    order: () => p.manyToOne(PlanOrder),
    number: p.integer().check('number > 0'),
    provider: impersonal(p.text()),
    providerReference: impersonal(p.text().nullable()),
    /** `none`: the charge is known not to exist, and may be retried. */
    charge: p.enum(chargeStates).default('unknown'),
    qr: impersonal(p.text().nullable()),
    paymentUrl: impersonal(p.text().nullable()),
    /** Amount to pay; includes the provider's fee if it adds one. */
    amount: p.bigint('number').check('amount > 0'),
    currency: impersonal(p.text()),
    expiresAt: p.datetime(),
    createdAt: recordedAt,
    /** Last state that the provider reported. */
    state: impersonal(p.text().default('unknown')),
    checkedAt: p.datetime().nullable(),
    checks: p.integer().default(0),
    /** Number of failed checks since the last one that succeeded. */
    failures: p.integer().default(0),
    /** Null once the payment is settled. */
    nextCheckAt: p.datetime().nullable(),
    error: impersonal(p.text().nullable()),
  },
  indexes: [{ name: 'payment_attempt_due', properties: 'nextCheckAt', where: 'next_check_at is not null' }],
  uniques: [{ properties: ['order', 'number'] }, { properties: ['provider', 'providerReference'] }],
});

/** Money received. */
export const Payment = defineEntity({
  name: 'Payment',
  properties: {
    id: p.uuid().primary(),
    order: () => p.manyToOne(PlanOrder).index('payment_order'),
    attempt: () => p.manyToOne(PaymentAttempt).fieldName('reference').index('payment_reference'),
    provider: impersonal(p.text()),
    /** The provider's reference for its charge, if it differs from the attempt's. */
    providerReference: impersonal(p.text().nullable()),
    /** The provider's id for it. */
    paymentId: impersonal(p.text()),
    amount: p.bigint('number'),
    currency: impersonal(p.text()),
    paidAt: p.datetime(),
    /** The buyer's bank or wallet. */
    issuer: impersonal(p.text().nullable()),
    outcome: p.enum(paymentOutcomes),
    /** What the provider reported. */
    raw: impersonal(p.json<object>().columnType('json')),
    recordedAt,
    /** The provider's fee, if known. */
    fee: p.bigint('number').nullable().check('fee >= 0'),
    /** When it was found in the provider's books. */
    reconciledAt: p.datetime().nullable(),
  },
  uniques: [
    { properties: ['provider', 'paymentId'] },
    { name: 'payment_activates_once', properties: 'order', where: `outcome = 'activated'` },
  ],
});

/** A refund of one payment, in full or in part. */
export const Refund = defineEntity({
  name: 'Refund',
  properties: {
    /** Our reference for the refund at the provider. */
    key: impersonal(p.text().primary()),
    order: () => p.manyToOne(PlanOrder).index('refund_order'),
    payment: () => p.manyToOne(Payment),
    amount: p.bigint('number').check('amount > 0'),
    currency: impersonal(p.text()),
    /** `asked`: recorded, and possibly requested. `sent`: accepted by the provider. */
    state: p.enum(refundStates),
    /** Which days to take back once the refund is done. */
    days: p.enum(['whole', 'unused', 'none'] satisfies readonly DaysBack[]).default('unused'),
    /** True if an operator paid it back outside the provider. */
    isManual: p.boolean().default(false),
    reason: impersonal(p.text()),
    raw: impersonal(p.json<object>().columnType('json').nullable()),
    createdAt: recordedAt,
    failures: p.integer().default(0),
    nextCheckAt: p.datetime().nullable(),
    finishedAt: p.datetime().nullable(),
    /** The provider's id for the refund. */
    providerRefundId: impersonal(p.text().nullable()),
    /** When it was found in the provider's books. */
    reconciledAt: p.datetime().nullable(),
  },
  indexes: [{ name: 'refund_due', properties: 'nextCheckAt', where: `state in ('asked', 'sent')` }],
  uniques: [{ name: 'refund_stated_once', properties: ['payment', 'providerRefundId'] }],
});

/** Something about an order, or about money that belongs to no order, that an operator must decide. */
export const OrderFlag = defineEntity({
  name: 'OrderFlag',
  properties: {
    id: p.uuid().primary(),
    /** Null if the provider holds money that belongs to none of this gateway's orders. */
    order: () => p.manyToOne(PlanOrder).nullable().deleteRule('no action'),
    kind: p.enum(flagKinds),
    /** The payment or refund that it is about. */
    subject: impersonal(p.text()),
    /** For money that is not on record: amount, currency, time and reference, as the provider lists them. */
    detail: impersonal(p.json<object>().defaultRaw(`'{}'`)),
    createdAt: recordedAt,
    resolvedAt: p.datetime().nullable(),
    resolution: impersonal(p.text().nullable()),
    outcome: p.enum(flagOutcomes).nullable(),
  },
  indexes: [{ name: 'order_flag_open', properties: 'createdAt', where: 'resolved_at is null' }],
  uniques: [
    { properties: ['order', 'kind', 'subject'] },
    { name: 'order_flag_of_no_order', properties: ['kind', 'subject'], where: 'order_id is null' },
  ],
});

/** A notification from a provider. Kept for some time after it is processed. */
export const PaymentNotification = defineEntity({
  name: 'PaymentNotification',
  properties: {
    id: p.bigint('string').primary().generated('identity'),
    provider: impersonal(p.text()),
    eventKey: impersonal(p.text()),
    reference: impersonal(p.text().nullable()),
    providerReference: impersonal(p.text().nullable()),
    refundKey: impersonal(p.text().nullable()),
    paymentId: impersonal(p.text().nullable()),
    body: impersonal(p.text()),
    evidence: impersonal(p.json<object>().columnType('json').nullable()),
    receivedAt: recordedAt,
    tries: p.integer().default(0),
    /** Null once the notification is processed. */
    nextTryAt: p.datetime().nullable().defaultRaw('clock_timestamp()'),
    outcome: impersonal(p.text().nullable()),
  },
  indexes: [
    { name: 'payment_notification_due', properties: 'nextTryAt', where: 'next_try_at is not null' },
    { name: 'payment_notification_reference', properties: ['reference', 'receivedAt'] },
    { name: 'payment_notification_processed', properties: 'receivedAt', where: 'next_try_at is null' },
  ],
  uniques: [{ properties: ['provider', 'eventKey'] }],
});
