import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '#core/business/accounts/entities.ts';
import { impersonal } from '#core/platform/database/personal.ts';

const voucherSources = ['sold', 'given'] as const; // sold elsewhere, such as on a marketplace, or given away

export const VoucherBatch = defineEntity({
  name: 'VoucherBatch',
  properties: {
    id: p.uuid().primary(),
    days: p.integer().check('days > 0'),
    /** Name of the days, as their owners see it. */
    label: impersonal(p.text().nullable()),
    note: impersonal(p.text()),
    source: p.enum(voucherSources),
    /** Only accounts that have neither bought days nor redeemed a voucher may redeem them. */
    isForNew: p.boolean(),
    expiresAt: p.datetime(),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
  },
});

/**
 * A code that adds days once, to the account that redeems it. Only its SHA-256 is stored. A batch's codes are shown once; a gift's code can
 * be derived again from its order.
 */
export const Voucher = defineEntity({
  name: 'Voucher',
  properties: {
    id: p.uuid().primary(),
    /** The voucher's batch; null for a gift. */
    batch: () => p.manyToOne(VoucherBatch).nullable().deleteRule('no action').index('voucher_batch_id'),
    orderId: p.uuid().nullable().unique(),
    /** When a gift expires; other vouchers expire with their batch. */
    expiresAt: p.datetime().nullable(),
    sha256: impersonal(p.blob().unique().check('length(sha256) = 32')),
    /** Last characters of the code. */
    hint: impersonal(p.text()),
    account: () => p.manyToOne(Account).nullable().deleteRule('no action').index('voucher_account'),
    redeemedAt: p.datetime().nullable(),
    revokedAt: p.datetime().nullable(),
  },
  checks: [
    { name: 'voucher_redeemed', expression: '(account_id is null) = (redeemed_at is null)' },
    { name: 'voucher_ended_once', expression: 'redeemed_at is null or revoked_at is null' },
    { name: 'voucher_of_batch_or_order', expression: '(batch_id is null) = (order_id is not null)' },
    { name: 'voucher_of_order_expires', expression: '(order_id is null) = (expires_at is null)' },
  ],
  indexes: [
    {
      name: 'voucher_open_gift',
      properties: 'expiresAt',
      where: 'order_id is not null and redeemed_at is null and revoked_at is null',
    },
  ],
});
