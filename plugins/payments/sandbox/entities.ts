import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';

export const SandboxCharge = defineEntity({
  name: 'SandboxCharge',
  tableName: 'payments_sandbox_charge',
  properties: {
    reference: impersonal(p.text().primary()),
    providerReference: impersonal(p.text().unique()),
    amount: p.bigint('number').check('amount > 0'),
    currency: impersonal(p.text()),
    qr: impersonal(p.text()),
    state: p.enum(['pending', 'paid', 'expired', 'failed'] as const).default('pending'),
    expiresAt: p.datetime(),
    notificationUrl: impersonal(p.text()),
    paidAmount: p.bigint('number').nullable(),
    paymentId: impersonal(p.text().nullable()),
    paidAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
  },
  checks: [
    {
      name: 'payments_sandbox_charge_check',
      expression: `(state = 'paid') = (paid_at is not null and paid_amount is not null and payment_id is not null)`,
    },
  ],
});

export const SandboxRefund = defineEntity({
  name: 'SandboxRefund',
  tableName: 'payments_sandbox_refund',
  properties: {
    key: impersonal(p.text().primary()),
    charge: () => p.manyToOne(SandboxCharge).fieldName('reference').index('payments_sandbox_refund_reference'),
    amount: p.bigint('number').check('amount > 0'),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
  },
});
