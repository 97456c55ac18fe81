import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '#core/business/accounts/entities.ts';

/** Reason for the end of a wait: a pass, an unused reservation, or the account left or was blocked. */
const waitOutcomes = ['bought', 'expired', 'left'] as const;

/** An account that waits for a place, or has a reserved one. */
export const WaitingEntry = defineEntity({
  name: 'WaitingEntry',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account),
    /** Days of the plan. */
    days: p.integer().check('days > 0'),
    joinedAt: p.datetime().defaultRaw('clock_timestamp()'),
    /** End of the reservation, until which the entry holds a place; null while it waits. */
    reservedUntil: p.datetime().nullable(),
    endedAt: p.datetime().nullable(),
    outcome: p.enum(waitOutcomes).nullable(),
  },
  indexes: [
    { name: 'waiting_entry_open', properties: ['joinedAt', 'id'], where: 'ended_at is null' },
    { name: 'waiting_entry_account', properties: 'account' },
  ],
  // One open entry per account, across all instances.
  uniques: [{ name: 'waiting_entry_once', properties: 'account', where: 'ended_at is null' }],
  checks: [{ name: 'waiting_entry_outcome', expression: '(ended_at is null) = (outcome is null)' }],
});

/** Daily maxima under one limit; a limit that changes during the day starts another row. */
export const SalesDay = defineEntity({
  name: 'SalesDay',
  properties: {
    /** Day in the time zone of the service. */
    day: p.date().primary(),
    /** Days of the plan; 0 for all plans together. */
    planDays: p.integer().primary(),
    maxActive: p.integer().primary(),
    /** Occupied places. */
    held: p.integer(),
    /** Occupied places whose payment came after the order had ended. */
    late: p.integer(),
    waiting: p.integer(),
  },
});
