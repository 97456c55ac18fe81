import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '#core/business/accounts/entities.ts';

/** How a wait ended: with a pass, with an unused reservation, or because the account left or was blocked. */
const waitOutcomes = ['bought', 'expired', 'left'] as const;

/** An account that waits for a place, or has one reserved. */
export const WaitingEntry = defineEntity({
  name: 'WaitingEntry',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account),
    days: p.integer().check('days > 0'),
    joinedAt: p.datetime().defaultRaw('clock_timestamp()'),
    /** When the reservation ends; until then the entry holds a place. Null while it waits. */
    reservedUntil: p.datetime().nullable(),
    endedAt: p.datetime().nullable(),
    outcome: p.enum(waitOutcomes).nullable(),
  },
  indexes: [
    { name: 'waiting_entry_open', properties: ['joinedAt', 'id'], where: 'ended_at is null' },
    { name: 'waiting_entry_account', properties: 'account' },
  ],
  // At most one open entry per account, across all instances.
  uniques: [{ name: 'waiting_entry_once', properties: 'account', where: 'ended_at is null' }],
  checks: [{ name: 'waiting_entry_outcome', expression: '(ended_at is null) = (outcome is null)' }],
});

/** The day's highest counts under one limit. If the limit changes during the day, another row is started. */
export const SalesDay = defineEntity({
  name: 'SalesDay',
  properties: {
    day: p.date().primary(), // in the service's time zone
    /** Length of the plan; 0 for all plans together. */
    planDays: p.integer().primary(),
    maxActive: p.integer().primary(),
    held: p.integer(),
    /** Places taken by payments that came after the order had ended. */
    late: p.integer(),
    waiting: p.integer(),
  },
});
