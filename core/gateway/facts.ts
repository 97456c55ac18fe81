import type { Model } from '#core/config/catalog/catalog.ts';
import type { Adapter, AnswerDigests, Usage } from './model-call/adapter.ts';
import { defineFact } from './pipeline/fact.ts';

export type { AnswerDigests, Usage } from './model-call/adapter.ts';

/** The caller. Written by `auth`. */
export interface Principal {
  readonly accountId: string;
  readonly keyId: string;
  /** First and last characters of the key, safe to show: `dp-a1b2…wxyz`; `playground` for requests from the page *Playground*. */
  readonly keyHint: string;
  /** Limits of this key, which replace the configured limits. */
  readonly limits: RateLimits | undefined;
  /** Number of recorded requests of the account. Lags until records reach the database. */
  readonly requestCount: number;
}

/** Limits on model calls. An omitted member keeps its configured value. */
export interface RateLimits {
  /** Requests per period. */
  readonly limit?: number | undefined;
  /** Seconds. */
  readonly period?: number | undefined;
  /** Maximum burst: requests that may be sent at once after a pause. */
  readonly burst?: number | undefined;
  /** Requests in flight. */
  readonly concurrent?: number | undefined;
  /** Share of a full upstream's slots, relative to accounts with other weights. Default: 1. */
  readonly weight?: number | undefined;
}

/** The account's entitlement. Written by `plan`. */
export interface Entitlement {
  /** Active period; undefined if there is none. Adjacent periods count as one, with the label and days of the first. */
  readonly period:
    | { readonly startsAt: Date; readonly endsAt: Date; readonly label: string | undefined; readonly days?: number }
    | undefined;
  /** Limits of the active period, which replace the configured limits. */
  readonly limits?: RateLimits | undefined;
  /** Whole seconds until the last paid period ends, including future periods. */
  readonly secondsLeft: number;
  /** Message for the client if no period is active; undefined otherwise. */
  readonly inactiveReason?: string | undefined;
}

/** A request allowance, and its remainder after this request. */
export interface AllowanceState {
  readonly limit: number; // requests per period
  readonly period: number; // seconds
  readonly burst: number; // requests that may be sent at once after a pause
  readonly remaining: number; // requests allowed now
  readonly resetAfter: number; // seconds until the full burst is available
}

/** The caller's limits on model calls. Written by `rate-limit`. */
export interface RateLimitState extends AllowanceState {
  readonly concurrent: number; // requests in flight
  /** The separate allowance for other requests; set only if this request is not a model call. */
  readonly other?: AllowanceState | undefined;
}

/**
 * Why an attempt failed, which determines the next attempt.
 *
 * - `client`: the request was refused, and other routes would refuse it as well.
 * - `overflow`: the request is too long for this route; a route with a larger context may serve it.
 * - `key`: the upstream rejected the key, or its quota is used up.
 * - `throttled`: too many requests to this upstream.
 * - `route`: the route is faulty.
 * - `no_model`: the route does not have this model.
 * - `unsupported`: the route's server does not support a feature of the request; another server may.
 * - `setup`: the operator has not set up the route's server for such a request.
 * - `memory`: the response did not fit into the gateway's memory.
 * - `local`: the gateway could not open a connection, because the system had no descriptor or port left for it.
 * - `gone`: the exchange is over, because the client disconnected, the gateway is stopping, or another route was faster.
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

/** Faults of the gateway itself, which do not count against a route or a model. */
export const ownFaults = ['memory', 'local'] as const satisfies FaultKind[];

/** One attempt on one route. */
export interface AttemptRecord {
  readonly route: string; // upstream/model
  readonly format?: string | undefined; // name of the request's format
  readonly startedAt: number; // ms since the start of the exchange
  readonly duration: number; // ms
  readonly outcome: 'served' | 'failed' | 'aborted';
  readonly status?: number | undefined; // from the upstream
  readonly fault?: FaultKind | undefined; // of a failed attempt
  readonly error?: string | undefined; // message
}

/** Source of the reply. `upstream` writes it early, and updates it until the end. */
export interface Delivery {
  readonly attempts: AttemptRecord[]; // finished attempts, in the order of their start
  /** Route that last sent content of the reply to the client; undefined before the first content. */
  servedBy?: string | undefined;
  usage: Usage | undefined;
  /** Features of the request that the serving route could not express. */
  notes?: readonly string[] | undefined;
  /** Time from the start of the exchange to the first content of the reply, in ms. */
  firstContentAfter: number | undefined;
  /** How long the request waited for upstream slots in total, in ms; undefined if it did not wait. */
  queuedFor?: number;
  /** Model named in the upstream's reply. */
  answeredModel?: string | undefined;
  /** True if `answeredModel` differs from the model requested by the route. */
  isOtherModel?: boolean;
  /** True if a vendor refused the request, or withheld or truncated the reply, under its policy. */
  isPolicyRefusal?: boolean;
}

/** The model and format of a call that is served from the cache. */
export type CachedCall = Pick<Adapter, 'model' | 'modelName' | 'isStream'>;

/** The caller; written by `auth`. */
export const principal = defineFact<Principal>('principal');
/**
 * True for a request without an account. Most of these are not recorded, because any client can send any number of them. Written by
 * `auth`, even if a key could not be looked up, because any client can invent a key. Not written for a rotated key, which belongs to
 * an account.
 */
export const unauthenticated = defineFact<true>('unauthenticated');
/** The caller's entitlement; written by `plan`. */
export const entitlement = defineFact<Entitlement>('entitlement');
/** The state of the caller's limits; written by `rate-limit`. */
export const rateLimitState = defineFact<RateLimitState>('rate_limit_state');
/** Maximum of `slotWait`, in ms. */
export const longestSlotWait = 600_000;
/**
 * How long a model call may wait, in ms, while its key has the maximum number of requests in flight. Without it, the call is refused
 * immediately. Written for clients that wait on their own connection. A key's waiting calls are served in order.
 */
export const slotWait = defineFact<number>('slot_wait');
/** How long the call waited for its key's limit, in ms; written by `rate-limit`. */
export const slotWaited = defineFact<number>('slot_waited');
/** Whether the reply came from the cache; written by `cache` if the client requested caching. */
export const cacheStatus = defineFact<'hit' | 'miss'>('cache_status');
/** Translates between the client's format and the routes of its model; written by `format`. */
export const adapter = defineFact<Adapter>('adapter');
/** The call of a cache hit, in place of `adapter`, because a hit never reaches `format`; written by `cache`. */
export const cachedCall = defineFact<CachedCall>('cached_call');
/** Source of the reply; written by `upstream`. */
export const delivery = defineFact<Delivery>('delivery');
/** Digests of the reply; written by `upstream` when the reply ends, and by `cache` for a hit. */
export const answerDigests = defineFact<AnswerDigests>('answer_digests');
/**
 * Set for a request that the gateway makes to probe a route: the model with that route. Such a request has no account, and changes neither
 * breakers nor keys nor the retry budget. Written by the code that makes the request.
 */
export const trialModel = defineFact<Model>('trial_model');
