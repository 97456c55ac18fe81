import { defineEntity, p } from '@mikro-orm/core';
import { Account, PlanPeriod } from '#core/business/accounts/entities.ts';
import { impersonal } from '#core/platform/database/personal.ts';

/** A time within an incident in which no request to a model was answered: requests of several accounts failed, or a probe did. */
export const OutageRow = defineEntity({
  name: 'OutageRow',
  tableName: 'outage',
  properties: {
    id: p.uuid().primary(),
    /** Not a foreign key, since incidents are deleted earlier. */
    incidentId: p.uuid(),
    /** Public name. */
    model: impersonal(p.text()),
    fromAt: p.datetime(),
    untilAt: p.datetime(),
    /** Confirmed by a probe, or by accounts without earlier failures. */
    isConfirmed: p.boolean().default(false),
    foundAt: p.datetime().defaultRaw('clock_timestamp()'),
    /** When all accounts were credited; null until then. */
    creditedAt: p.datetime().nullable(),
    /** When an operator declined the credit. */
    declinedAt: p.datetime().nullable(),
  },
  uniques: [{ name: 'outage_once', properties: ['incidentId', 'fromAt'] }],
  checks: [{ name: 'outage_span', expression: 'until_at > from_at' }],
});

/** A credit of an account for an outage; at most one per outage. */
export const OutageCredit = defineEntity({
  name: 'OutageCredit',
  properties: {
    outage: () => p.manyToOne(OutageRow).primary().updateRule('no action').deleteRule('no action'),
    account: () =>
      p.manyToOne(Account).primary().updateRule('no action').deleteRule('no action').index('outage_credit_account'),
    /** Credited seconds; 0 if other credits cover the time, or the daily limit is reached. */
    seconds: p.integer().check('seconds >= 0'),
    /** The ledger entry of the credit; null if nothing was added. */
    period: () => p.manyToOne(PlanPeriod).nullable().deleteRule('no action'),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
  },
});
