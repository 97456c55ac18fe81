import { defineEntity, p } from '@mikro-orm/core';
import type { RateLimits } from '#core/gateway/facts.ts';
import { impersonal, personal } from '#core/platform/database/personal.ts';
import { deletedName } from './account-names.ts';

/** A customer, who buys days and calls models. */
export const Account = defineEntity({
  name: 'Account',
  properties: {
    id: p.uuid().primary(),
    email: personal(p.text().nullable()),
    /** Previous address, which is notified of the change. */
    formerEmail: personal(p.text().nullable()),
    name: personal(p.text(), { replacement: deletedName }),
    avatarUrl: personal(p.text().nullable()),
    /** Number of metered requests. Updated when records are stored, so it lags behind. */
    requestCount: p.bigint('number').defaultRaw('0'),
    createdAt: p.datetime().defaultRaw('now()'),
    /** Language of emails. */
    language: personal(p.text().nullable()),
    /** Null if the account gets all emails; otherwise it gets only those about orders, sign-ins and keys. */
    unsubscribedAt: p.datetime().nullable(),
    blockedAt: p.datetime().nullable(),
    blockedReason: personal(p.text().nullable(), { isHidden: true }),
    /** Set if the owner requested the block. The owner can still sign in and end it. */
    pausedAt: p.datetime().nullable(),
    /** When the owner's pause began, if an operator has blocked the account since. Unblocking restores the pause. */
    pauseBeforeBlock: p.datetime().nullable(),
    deletedAt: p.datetime().nullable(),
  },
  uniques: [
    { name: 'account_email', expression: 'create unique index account_email on account (lower(email))' },
    {
      name: 'account_email_ascii',
      expression: 'create unique index account_email_ascii on account (lower(email collate "C"))',
    },
  ],
});

/** An account's only live key. Only its SHA-256 is stored; the key itself is shown once. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  properties: {
    id: p.uuid().primary(),
    account: () => p.oneToOne(Account).owner().deleteRule('cascade'),
    sha256: personal(p.blob().unique().check('length(sha256) = 32'), { isHidden: true }),
    hint: personal(p.text()),
    limits: impersonal(p.json<RateLimits>().nullable()),
    createdAt: p.datetime().defaultRaw('now()'),
    rotatedAt: p.datetime().nullable(),
    /** SHA-256 of the replaced key, kept for 90 days so that callers that still use it can be told about the rotation. */
    formerSha256: personal(p.blob().nullable().unique(), { isHidden: true }),
    /** Null if the key was never shown. */
    shownAt: p.datetime().nullable().defaultRaw('now()'),
  },
});

/**
 * Why a ledger entry was written.
 *
 * - `grant`, `order`, `voucher`, `gift`: days granted by an operator, bought by the account, redeemed with a voucher, or given by another
 *   account.
 * - `refund`, `revoke`: replaces a period because of a refund, or because an operator took days back.
 * - `shift`: replaces a period that moved because an earlier one changed.
 * - `outage`: extends a period to compensate for an outage, or adds one after a period that has ended.
 */
const planPeriodReasons = ['grant', 'order', 'voucher', 'refund', 'revoke', 'shift', 'outage', 'gift'] as const;

/**
 * An entry in the ledger of paid time. Entries are never changed or removed; those that no other entry replaces are in force. An account is
 * active during its entries in force.
 */
export const PlanPeriodSchema = defineEntity({
  name: 'PlanPeriod',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account),
    startsAt: p.datetime(),
    endsAt: p.datetime(),
    days: p.integer().check('days > 0'),
    label: impersonal(p.text().nullable()),
    reason: p.enum(planPeriodReasons),
    note: impersonal(p.text().nullable()),
    createdAt: p.datetime().defaultRaw('now()'),
    /** The order that bought it; for a gift, the giver's order. Copied to replacements, and to time credited after the entry has ended. */
    orderId: p.uuid().nullable(),
    /** The voucher that added it. Replacements do not keep it. */
    voucherId: p.uuid().nullable(),
    /** The entry that this one replaces. */
    replaces: () => p.oneToOne(PlanPeriod).owner().mapToPk().fieldName('replaces').nullable().deleteRule('no action'),
    /** Rate limits that were sold with it and apply while it runs. */
    limits: impersonal(p.json<RateLimits>().nullable()),
  },
  indexes: [
    { name: 'plan_period_account', properties: ['account', 'endsAt'] },
    { name: 'plan_period_end', properties: 'endsAt' },
    { name: 'plan_period_order', properties: 'orderId', where: 'order_id is not null' },
  ],
  uniques: [
    { name: 'plan_period_activates_once', properties: 'orderId', where: `reason in ('order', 'gift')` },
    { name: 'plan_period_redeems_once', properties: 'voucherId' },
  ],
  checks: [
    {
      name: 'plan_period_length',
      expression: 'ends_at > starts_at or (ends_at = starts_at and replaces is not null)',
    },
    { name: 'plan_period_of_order', expression: `order_id is not null or not (reason in ('order', 'gift'))` },
    {
      name: 'plan_period_replaces',
      expression: `reason = 'outage' or (reason in ('grant', 'order', 'voucher', 'gift')) = (replaces is null)`,
    },
    { name: 'plan_period_of_voucher', expression: `(reason in ('voucher', 'gift')) = (voucher_id is not null)` },
  ],
});

/** A way to sign in to an account. */
export const LinkedIdentity = defineEntity({
  name: 'LinkedIdentity',
  tableName: 'identity',
  properties: {
    provider: impersonal(p.text().primary()),
    /** The provider's id for the person. Never the email address, which may pass to someone else. */
    subject: personal(p.text().primary()),
    account: () => p.manyToOne(Account).deleteRule('cascade').index('identity_account'),
    email: personal(p.text().nullable()),
    name: personal(p.text()),
    createdAt: p.datetime().defaultRaw('now()'),
    lastUsedAt: p.datetime().defaultRaw('now()'),
  },
});

/** A browser in which an account is signed in. Only the SHA-256 of its token is stored. */
export const Session = defineEntity({
  name: 'Session',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').index('session_account'),
    tokenSha256: personal(p.blob().unique().check('length(token_sha256) = 32'), { isHidden: true }),
    userAgent: personal(p.text().default('')),
    createdAt: p.datetime().defaultRaw('now()'),
    lastUsedAt: p.datetime().defaultRaw('now()').index('session_last_use'),
    expiresAt: p.datetime(),
  },
});

/** An event about an account. Kept for some time after it is published. */
export const AccountEventRow = defineEntity({
  name: 'AccountEventRow',
  tableName: 'account_event',
  properties: {
    id: p.bigint('string').primary().generated('identity'),
    name: impersonal(p.text()),
    /** Contains only ids and times. */
    payload: impersonal(p.json<object>()),
    dedupeKey: impersonal(p.text().unique()),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
    publishedAt: p.datetime().nullable(),
  },
  indexes: [{ name: 'account_event_unpublished', properties: 'id', where: 'published_at is null' }],
});

/** Description of a table with personal columns, recorded at the last startup at which an entity declared it. */
export const PersonalTableRow = defineEntity({
  name: 'PersonalTableRow',
  tableName: 'personal_table',
  properties: {
    name: impersonal(p.text().primary()),
    description: impersonal(p.json<object>()),
  },
});

// Declared as a class because it refers to itself.
export class PlanPeriod extends PlanPeriodSchema.class {}
PlanPeriodSchema.setClass(PlanPeriod);
