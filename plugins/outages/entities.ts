import { defineEntity, p } from '@mikro-orm/core';
import { Account, PlanPeriod } from '#core/business/accounts/entities.ts';
import { impersonal } from '#core/platform/database/personal.ts';

/** Part of an incident in which no request to the model was answered, while requests of several accounts, or a probe, failed. */
export const OutageRow = defineEntity({
  name: 'OutageRow',
  tableName: 'outage',
  properties: {
    id: p.uuid().primary(),
    /** This is not a foreign key, because incidents are deleted earlier. */
    incidentId: p.uuid(),
    /** Public name of the model. */
    model: impersonal(p.text()),
    fromAt: p.datetime(),
    untilAt: p.datetime(),
    /** Confirmed by a probe, or by accounts without earlier failures. */
    isConfirmed: p.boolean().default(false),
    foundAt: p.datetime().defaultRaw('clock_timestamp()'),
    creditedAt: p.datetime().nullable(),
    declinedAt: p.datetime().nullable(),
  },
  uniques: [{ name: 'outage_once', properties: ['incidentId', 'fromAt'] }],
  checks: [{ name: 'outage_span', expression: 'until_at > from_at' }],
});

/** What an account was credited for an outage; at most one row per outage. */
export const OutageCredit = defineEntity({
  name: 'OutageCredit',
  properties: {
    outage: () => p.manyToOne(OutageRow).primary().updateRule('no action').deleteRule('no action'),
    account: () =>
      p.manyToOne(Account).primary().updateRule('no action').deleteRule('no action').index('outage_credit_account'),
    /** 0 if other credits cover the time or the daily limit is reached. */
    seconds: p.integer().check('seconds >= 0'),
    /** The credit's ledger entry; null if no time was added. */
    period: () => p.manyToOne(PlanPeriod).nullable().deleteRule('no action'),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
  },
});
