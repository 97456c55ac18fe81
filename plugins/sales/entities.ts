import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '#core/business/accounts/entities.ts';

/** End of a wait: a pass, an unused reservation, or the account left or was blocked. */
const waitOutcomes = ['bought', 'expired', 'left'] as const;

/** A customer who waits for a place, or has one reserved. */
export const WaitingEntry = defineEntity({
  name: 'WaitingEntry',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account),
    /** The plan, by its days. */
    days: p.integer().check('days > 0'),
    joinedAt: p.datetime().defaultRaw('clock_timestamp()'),
    /** Null: it waits. Until then it holds a place. */
    reservedUntil: p.datetime().nullable(),
    endedAt: p.datetime().nullable(),
    outcome: p.enum(waitOutcomes).nullable(),
  },
  indexes: [
    { name: 'waiting_entry_open', properties: ['joinedAt', 'id'], where: 'ended_at is null' },
    { name: 'waiting_entry_account', properties: 'account' },
  ],
  // One at a time, over all instances.
  uniques: [{ name: 'waiting_entry_once', properties: 'account', where: 'ended_at is null' }],
  checks: [{ name: 'waiting_entry_outcome', expression: '(ended_at is null) = (outcome is null)' }],
});

/** The most of a day under one limit: a limit that changes during a day begins another row. */
export const SalesDay = defineEntity({
  name: 'SalesDay',
  properties: {
    /** In the time zone of the service. */
    day: p.date().primary(),
    /** The plan, by its days; 0: all together. */
    planDays: p.integer().primary(),
    maxActive: p.integer().primary(),
    /** Places that were held. */
    held: p.integer(),
    /** Of these, taken by money that came after its order had ended. */
    late: p.integer(),
    waiting: p.integer(),
  },
});
