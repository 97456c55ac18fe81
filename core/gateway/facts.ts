import type { Model } from '#core/config/catalog/catalog.ts';
import type { Adapter, AnswerDigests, Usage } from './model-call/adapter.ts';
import { defineFact } from './pipeline/fact.ts';

export type { AnswerDigests, Usage } from './model-call/adapter.ts';

/** The caller. Written by `auth`. */
export interface Principal {
  readonly accountId: string;
  readonly keyId: string;
  /** First and last characters of the key, safe to show: `dp-a1b2…wxyz`; `playground` for requests of that page. */
  readonly keyHint: string;
  /** Limits of this key that replace the configured ones. */
  readonly limits: RateLimits | undefined;
  /** Recorded requests of the account; lags until records reach the database. */
  readonly requestCount: number;
}

/** Missing members fall back to the configured values. */
export interface RateLimits {
  /** Requests per period. */
  readonly limit?: number | undefined;
  /** Seconds. */
  readonly period?: number | undefined;
  /** Requests at once after an idle time. */
  readonly burst?: number | undefined;
  /** Requests in flight. */
  readonly concurrent?: number | undefined;
  /** Share of an upstream's slots when they are scarce, relative to accounts with 1. */
  readonly weight?: number | undefined;
}

/**
 * The account's entitlement. Written by `plan`; the period is undefined when none is active. Adjacent periods count as
 * one, with label and days of the first.
 */
export interface Entitlement {
  readonly period:
    | { readonly startsAt: Date; readonly endsAt: Date; readonly label: string | undefined; readonly days?: number }
    | undefined;
  /** Limits of the period that runs now, which replace the configured ones. */
  readonly limits?: RateLimits | undefined;
  /** Whole seconds until the last paid period ends, future periods included. */
  readonly secondsLeft: number;
  /** Message for the client if no period is active; undefined otherwise. */
  readonly inactiveReason?: string | undefined;
}

/** An allowance of requests, and its remainder after this request. */
export interface AllowanceState {
  readonly limit: number; // requests per period
  readonly period: number; // seconds
  readonly burst: number; // requests at once after an idle time
  readonly remaining: number; // requests allowed now
  readonly resetAfter: number; // seconds until the full burst is available
}

/** The caller's limits of model calls. Written by `rate-limit`. */
export interface RateLimitState extends AllowanceState {
  readonly concurrent: number; // requests in flight
  /** The allowance that a request took from which is not a model call. */
  readonly other?: AllowanceState | undefined;
}

/**
 * Reason for an attempt's failure, which decides the next attempt.
 *
 * - `client`: the request was refused; other routes would refuse it too.
 * - `overflow`: the request is too long for this route; one with a larger window may serve it.
 * - `key`: the upstream rejected the key, or its quota is used up.
 * - `throttled`: too many requests to this upstream.
 * - `route`: the route is faulty.
 * - `no_model`: the route does not have this model.
 * - `unsupported`: the server of the route does not support something in the request; another may.
 * - `setup`: the operator has not set up the server of the route for the request.
 * - `memory`: the response did not fit into the gateway's memory.
 * - `local`: the gateway could not open a connection, because the system had no descriptor or port left for it.
 * - `gone`: the exchange is over: the client left, the gateway stops, or another route was faster.
 */
export type FaultKind =
  | 'client'
  | 'overflow'
  | 'key'
  | 'throttled'
  | 'route'
  | 'no_model'
  | 'unsupported'
  | 'setup'
  | 'memory'
  | 'local'
  | 'gone';

/** Faults of the gateway itself, which say nothing about a route or a model. */
export const ownFaults = ['memory', 'local'] as const satisfies FaultKind[];

/** One attempt on one route. */
export interface AttemptRecord {
  readonly route: string; // upstream/model
  readonly format?: string | undefined; // name of the format that the request was put into
  readonly startedAt: number; // ms since the exchange began
  readonly duration: number; // ms
  readonly outcome: 'served' | 'failed' | 'aborted';
  readonly status?: number | undefined; // that the upstream returned
  readonly fault?: FaultKind | undefined; // why it failed
  readonly error?: string | undefined; // in words
}

/** Source of the answer. `upstream` writes it early and updates it until the end. */
export interface Delivery {
  readonly attempts: AttemptRecord[]; // that are over, in the order in which they started
  /** Route whose answer, or continuation of one, was handed to the client last; undefined before the first content. */
  servedBy?: string | undefined;
  usage: Usage | undefined;
  /** Parts of the request that the serving route could not express. */
  notes?: readonly string[] | undefined;
  /** Ms from the start of the exchange to the first content of the answer. */
  firstContentAfter: number | undefined;
  /** Ms for which the request waited for free slots of upstreams; undefined when it did not. */
  queuedFor?: number;
  /** The model that the upstream has named in its answer. */
  answeredModel?: string | undefined;
  /** True where that is another model than the one that was asked for. */
  isOtherModel?: boolean;
  /** True when a vendor refused the request, or withheld or cut the answer, because of its policy. */
  isPolicyRefusal?: boolean;
}

/** The model and format of a call that the cache answers. */
export type CachedCall = Pick<Adapter, 'model' | 'modelName' | 'isStream'>;

/** The caller; written by `auth`. */
export const principal = defineFact<Principal>('principal');
/**
 * True for a request that belongs to no account, of which any client can send any number: most have no record. Written by
 * `auth`, also where a key could not be looked up, because any client can make one up. One that was replaced is a customer's.
 */
export const unauthenticated = defineFact<true>('unauthenticated');
/** The caller's entitlement; written by `plan`. */
export const entitlement = defineFact<Entitlement>('entitlement');
/** The state of the caller's limits; written by `rate-limit`. */
export const rateLimitState = defineFact<RateLimitState>('rate_limit_state');
/** The most that `slotWait` may be, in ms. */
export const longestSlotWait = 600_000;
/**
 * Ms for which a model call may wait while its key has as many in flight as it may; without it the call is refused at once. Written for
 * clients that wait on a connection of their own. The calls of a key that wait are served in their order.
 */
export const slotWait = defineFact<number>('slot_wait');
/** Ms for which it has waited so; written by `rate-limit`. */
export const slotWaited = defineFact<number>('slot_waited');
/** True if the answer came from the cache; written by `cache` if the client requested caching. */
export const cacheStatus = defineFact<'hit' | 'miss'>('cache_status');
/** Translates between the client's format and the routes of its model; written by `format`. */
export const adapter = defineFact<Adapter>('adapter');
/** The call that the cached answer was for, as long as `format` has not read it; written by `cache` with a hit. */
export const cachedCall = defineFact<CachedCall>('cached_call');
/** Source of the answer; written by `upstream`. */
export const delivery = defineFact<Delivery>('delivery');
/** Digests of the answer; written by `upstream` at its end, and by `cache` with a hit. */
export const answerDigests = defineFact<AnswerDigests>('answer_digests');
/**
 * The model, with the route to try, of a request that the gateway itself makes to probe a route. It names no account,
 * and changes neither breakers nor keys nor the budget of retries. Written by who makes the request.
 */
export const trialModel = defineFact<Model>('trial_model');
