import { defineEntity, p } from '@mikro-orm/core';
import { Account, PlanPeriod } from '#core/business/accounts/entities.ts';
import { impersonal } from '#core/platform/database/personal.ts';

/** A time within an incident in which no request to a model was answered: those of several accounts failed, or a probe did. */
export const OutageRow = defineEntity({
  name: 'OutageRow',
  tableName: 'outage',
  properties: {
    id: p.uuid().primary(),
    /** Incidents are removed earlier. */
    incidentId: p.uuid(),
    /** Public name. */
    model: impersonal(p.text()),
    fromAt: p.datetime(),
    untilAt: p.datetime(),
    /** By a probe, or by accounts that had not failed before it was seen. */
    isConfirmed: p.boolean().default(false),
    foundAt: p.datetime().defaultRaw('clock_timestamp()'),
    /** When all accounts had their time back; null: not yet. */
    creditedAt: p.datetime().nullable(),
    /** When an operator decided that no account gets it back. */
    declinedAt: p.datetime().nullable(),
  },
  uniques: [{ name: 'outage_once', properties: ['incidentId', 'fromAt'] }],
  checks: [{ name: 'outage_span', expression: 'until_at > from_at' }],
});

/** Time that an account got back for an outage, once. */
export const OutageCredit = defineEntity({
  name: 'OutageCredit',
  properties: {
    outage: () => p.manyToOne(OutageRow).primary().updateRule('no action').deleteRule('no action'),
    account: () =>
      p.manyToOne(Account).primary().updateRule('no action').deleteRule('no action').index('outage_credit_account'),
    /** 0: others have covered the time, or the day's cap is reached. */
    seconds: p.integer().check('seconds >= 0'),
    /** The entry of the ledger that gave it; null without any. */
    period: () => p.manyToOne(PlanPeriod).nullable().deleteRule('no action'),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
  },
});
