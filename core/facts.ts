import type { Adapter } from './model-call/adapter.ts';
import type { Usage } from './model-call/usage.ts';
import { defineFact } from './pipeline/fact.ts';

export type { Usage } from './model-call/usage.ts';

/** Who is calling. Written by `auth`. */
export interface Principal {
  readonly accountId: string;
  readonly keyId: string;
  /** Beginning and end of the key, safe to show: `dp_a1b2…wxyz`. */
  readonly keyHint: string;
  /** Limits of this key that replace the configured ones. */
  readonly limits: RateLimits | undefined;
  /** Requests recorded for the account so far; lags by the time records take to reach the database. */
  readonly requestCount: number;
}

/** Each may be absent: then the configured value counts. */
export interface RateLimits {
  /** Requests a period. */
  readonly limit?: number | undefined;
  /** Seconds. */
  readonly period?: number | undefined;
  /** Requests that may come at once after a pause. */
  readonly burst?: number | undefined;
  /** Requests under way at the same time. */
  readonly concurrent?: number | undefined;
}

/**
 * What the account has paid for. Written by `plan`; the period is undefined when none is active. Periods that follow each
 * other without a gap are one, which has the label of the first.
 */
export interface Entitlement {
  readonly period: { readonly startsAt: Date; readonly endsAt: Date; readonly label: string | undefined } | undefined;
  /** Whole seconds until the account's last paid period ends, periods that have not begun included. */
  readonly secondsLeft: number;
}

/** Where the caller stands against its limits after this request. Written by `rate-limit`. */
export interface RateLimitState {
  readonly limit: number;
  readonly period: number; // seconds
  readonly burst: number;
  readonly concurrent: number;
  readonly remaining: number; // requests that may be sent at once now
  readonly resetAfter: number; // seconds until the whole burst is available again
}

/**
 * Why an attempt did not serve, and with that what comes next.
 *
 * - `client`: the request itself was refused; another route would say the same.
 * - `overflow`: the request is too long for this route; one with a larger window may serve it.
 * - `key`: the upstream did not accept our key, or it is spent.
 * - `throttled`: too many requests there.
 * - `route`: the route is broken.
 * - `no_model`: the route does not serve this model or request, whatever its health.
 * - `gone`: the exchange is over: the client left, the gateway stops, or another route was faster.
 */
export type FaultKind = 'client' | 'overflow' | 'key' | 'throttled' | 'route' | 'no_model' | 'gone';

/** One try on one route. */
export interface AttemptRecord {
  readonly route: string; // upstream/model-there
  readonly format?: string | undefined; // name of the format that the request was put into
  readonly startedAt: number; // ms since the exchange began
  readonly duration: number; // ms
  readonly outcome: 'served' | 'failed' | 'aborted';
  readonly status?: number | undefined; // what the upstream answered
  readonly fault?: FaultKind | undefined; // whose fault it was that it did not serve
  readonly error?: string | undefined; // why it was left, in words
}

/** What happened on the way to the answer. `upstream` writes it early and keeps it up to date until the end. */
export interface Delivery {
  readonly attempts: AttemptRecord[]; // that are over, in the order in which they started
  /** Route whose answer, or continuation of one, was handed to the client last; undefined before the first content. */
  servedBy?: string | undefined;
  usage: Usage | undefined;
  /** What the serving route could not say as the client said it. */
  notes?: readonly string[] | undefined;
  /** Ms from the begin of the exchange to the first content of the answer. */
  firstContentAfter: number | undefined;
}

/** Who calls; stated by `auth`. */
export const principal = defineFact<Principal>('principal');
/** What the caller has paid for; stated by `plan`. */
export const entitlement = defineFact<Entitlement>('entitlement');
/** Where the caller stands with its limits; stated by `rate-limit`. */
export const rateLimitState = defineFact<RateLimitState>('rate_limit_state');
/** Where the answer is from; stated by `cache` when the client asked for it to be kept. */
export const cacheStatus = defineFact<'hit' | 'miss'>('cache_status');
/** The bridge between the client's format and the routes of its model; stated by `format`. */
export const adapter = defineFact<Adapter>('adapter');
/** What happened on the way to the answer; stated by `upstream`. */
export const delivery = defineFact<Delivery>('delivery');
