import { defineEntity, p } from '@mikro-orm/core';
import { PlanOrder } from '#core/business/payments/entities.ts';
import { impersonal, personal } from '#core/platform/database/personal.ts';
import type { ReceiptContent } from './content.ts';

const retained = { isRetained: true } as const;

/**
 * The receipt of a payment or a refund. A trigger prevents changes, except that its number and a company can each be added once. It has no
 * foreign key to the account or the order, because it must be kept longer: it outlives their personal data and is deleted after
 * `seller.keep_years`.
 */
export const Receipt = defineEntity({
  name: 'Receipt',
  properties: {
    id: p.uuid().primary(),
    kind: p.enum(['payment', 'refund'] as const),
    /** The payment; for a refund, the refunded payment. */
    paymentId: p.uuid(),
    refundKey: impersonal(p.text().nullable().unique()),
    orderId: p.uuid().index('receipt_order'),
    accountId: p.uuid().index('receipt_account'),
    code: personal(p.text(), retained),
    /** When the payment was made, or the refund was completed. */
    madeAt: personal(p.datetime().index('receipt_made_at'), retained),
    currency: personal(p.text(), retained),
    amount: personal(p.bigint('number').check('amount > 0'), retained),
    /** The tax that the amount includes; null if the seller stated none. */
    tax: personal(p.bigint('number').nullable(), retained),
    /** The account's name at the time of the payment. */
    buyer: personal(p.text(), retained),
    company: personal(p.text().nullable(), retained),
    npwp: personal(p.text().nullable(), retained),
    content: personal(p.json<ReceiptContent>(), retained),
    /** Company added later; can be added only once. */
    addedCompany: personal(p.text().nullable(), retained),
    addedNpwp: personal(p.text().nullable(), retained),
    addedAt: p.datetime().nullable(),
    /** True if the payment moved no money, so the receipt never gets a number. */
    isTest: p.boolean(),
    /** Sequential number within its kind; null until the job assigns it. */
    number: personal(p.bigint('number').nullable(), retained),
    numberedAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
  },
  indexes: [{ name: 'receipt_waiting', properties: ['kind', 'madeAt'], where: 'number is null and not is_test' }],
  uniques: [
    { name: 'receipt_of_payment', properties: 'paymentId', where: `kind = 'payment'` },
    { name: 'receipt_kind_number_unique', properties: ['kind', 'number'] },
  ],
  checks: [
    { name: 'receipt_of_refund', expression: `(kind = 'refund') = (refund_key is not null)` },
    { name: 'receipt_numbered', expression: '(number is null) = (numbered_at is null)' },
    { name: 'receipt_test_has_no_number', expression: 'not is_test or number is null' },
    { name: 'receipt_added_company', expression: '(added_company is null) = (added_at is null)' },
  ],
});

/** The company that a buyer named at checkout, kept until the payment's receipt names it. */
export const ReceiptCompany = defineEntity({
  name: 'ReceiptCompany',
  tableName: 'receipt_company',
  properties: {
    order: () => p.manyToOne(PlanOrder).primary(),
    company: personal(p.text()),
    npwp: personal(p.text().nullable()),
  },
});

/** The last number of each kind; locked while numbers are assigned. */
export const ReceiptSeries = defineEntity({
  name: 'ReceiptSeries',
  tableName: 'receipt_series',
  properties: { kind: impersonal(p.text().primary()), last: p.bigint('number') },
});
