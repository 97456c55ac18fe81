import { defineEntity, p } from '@mikro-orm/core';
import type { RateLimits } from '../facts.ts';

/** Someone who buys days and calls models. */
const AccountSchema = defineEntity({
  name: 'Account',
  tableName: 'account',
  properties: {
    id: p.uuid().primary(),
    email: p.text().nullable(),
    name: p.text(),
    avatarUrl: p.text().nullable(),
    /** Metered requests on record; raised together with the records, so it lags as they do. */
    requestCount: p.bigint('number').default(0),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});

/** The one live key of an account. Only its SHA-256 is kept; the key itself is shown once. */
const ApiKeySchema = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    id: p.uuid().primary(),
    account: () => p.oneToOne(Account).owner(),
    sha256: p.blob(),
    hint: p.text(),
    limits: p.json<RateLimits>().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    rotatedAt: p.datetime().nullable(),
    /** Null: the key was never shown. */
    shownAt: p.datetime().nullable().defaultRaw('now()'),
  },
});

/** Why an entry was made: days added by hand or bought; a period replaced because of a refund or by hand, or moved by that. */
export const planPeriodReasons = ['grant', 'order', 'refund', 'revoke', 'shift'] as const;

/**
 * An entry of the ledger of paid time. Never changed and never removed. The entries that no other one replaces are in
 * force: an account is active when now lies in one of them.
 */
const PlanPeriodSchema = defineEntity({
  name: 'PlanPeriod',
  tableName: 'plan_period',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account),
    startsAt: p.datetime(),
    endsAt: p.datetime(),
    days: p.integer(),
    label: p.text().nullable(),
    reason: p.enum(planPeriodReasons),
    note: p.text().nullable(),
    /** The order that bought it; replacements keep it. */
    orderId: p.uuid().nullable(),
    /** The entry that this one replaces. */
    replaces: p.uuid().nullable(),
    /** Rate limits while it runs, as sold. */
    limits: p.json<RateLimits>().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});

/** A browser in which an account is signed in. Only the SHA-256 of its token is kept. */
const SessionSchema = defineEntity({
  name: 'Session',
  tableName: 'session',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account),
    tokenSha256: p.blob(),
    userAgent: p.text(),
    createdAt: p.datetime().defaultRaw('now()'),
    lastUsedAt: p.datetime().defaultRaw('now()'),
    expiresAt: p.datetime(),
  },
});

export class Account extends AccountSchema.class {}
export class ApiKey extends ApiKeySchema.class {}
export class PlanPeriod extends PlanPeriodSchema.class {}
export class Session extends SessionSchema.class {}

AccountSchema.setClass(Account);
ApiKeySchema.setClass(ApiKey);
PlanPeriodSchema.setClass(PlanPeriod);
SessionSchema.setClass(Session);

/** All entities, for MikroORM. */
export const entities = [Account, ApiKey, PlanPeriod, Session];
