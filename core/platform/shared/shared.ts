import type { SlotStore } from './slots.ts';

/**
 * State that the instances of a gateway share: counters, leases, cached replies, events. Two implementations pass the same tests: `memory`
 * for one process, `redis` for several.
 *
 * Every call has a deadline and rejects with SharedUnavailable if the store does not respond in time. Times come from the store's clock,
 * never from an instance's.
 */
export interface Shared extends AsyncDisposable {
  readonly kind: 'memory' | 'redis';
  readonly limiter: Limiter;
  readonly cache: Cache;
  readonly groups: GroupCache;
  readonly events: Events;
  /** Undefined for a single process, because it has no slots to share. */
  readonly slots?: SlotStore;
  /** Resolves if the store responds, so that limits are shared. Rejects with SharedUnavailable. */
  ping(): Promise<void>;
}

/** GCRA (generic cell rate algorithm) and a limit on concurrent holders, decided in one step. */
export interface Limiter {
  /** Last known number of instances that use this store for limits. */
  readonly instances: number;
  /**
   * Takes one request from the allowance of `key` and one of its concurrent slots, or neither. Without a limit on concurrent requests,
   * takes no slot. The slot of a dead instance becomes free after 25 s.
   *
   * @param fallback supplies a result if the store is late, or undefined to keep waiting
   */
  take(key: string, limits: Limits, fallback?: () => Take | undefined): Take | Promise<Take>;
  /** Returns the state of the key without taking a request or a slot. */
  peek(key: string, limits: Limits, fallback?: () => Take | undefined): Take | Promise<Take>;
  /** Releases the slot. Safe to call more than once. */
  release(key: string, lease: string): void;
}

export interface Limits {
  readonly limit: number; // requests per period
  readonly period: number; // seconds
  readonly burst: number; // requests that may arrive at once
  readonly concurrent?: number | undefined; // requests in flight; default: no limit
}

/** Result of `Limiter.take` and `Limiter.peek`. */
export interface Take {
  /** The limit that refuses the request; undefined if it is allowed. */
  readonly refusedBy: 'rate' | 'concurrency' | undefined;
  /** Id of the taken slot; undefined if none was taken. */
  readonly lease: string | undefined;
  readonly remaining: number; // requests that could be sent now
  readonly retryAfter: number; // seconds until a request would be allowed; 0 if this one was
  readonly resetAfter: number; // seconds until the full burst is available again
  /** Concurrent slots in use, including this request's; undefined if only `peek` counts them. */
  readonly running?: number | undefined;
}

/** Entries by key with a lifetime, and claims that allow one of several callers to fill an entry. */
export interface Cache {
  /** Reads an entry; undefined if it is missing or has expired. */
  get(key: string): Promise<CacheEntry | undefined>;
  /** Stores an entry. Evicts older entries if the store is full. */
  set(key: string, value: Buffer, seconds: number): Promise<void>;
  /**
   * Claims a key. Returns true for one caller among all instances, until the caller releases the claim or `seconds` have passed.
   *
   * @param owner unique id of the caller, which is needed to release the claim
   */
  claim(key: string, owner: string, seconds: number): Promise<boolean>;
  /** Extends a claim to `seconds` from now. Returns false if its owner has lost it. */
  extend(key: string, owner: string, seconds: number): Promise<boolean>;
  /** Ends a claim, unless its owner has lost it. */
  release(key: string, owner: string): Promise<void>;
}

/** Small values by group and name. Over a group's limits, its oldest values are evicted, so that no group fills the store. */
export interface GroupCache {
  /** Reads values by name in one round trip. Missing and expired values are omitted. */
  get(group: string, names: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** Stores values in one round trip. A value above the limit of the whole group is not stored. */
  set(group: string, entries: ReadonlyMap<string, Buffer>, limits: GroupLimits): Promise<void>;
}

export interface GroupLimits {
  readonly seconds: number; // lifetime of a value
  readonly entries: number;
  readonly bytes: number; // maximum of all values together
}

export interface CacheEntry {
  readonly value: Buffer;
  readonly age: number; // seconds since it was stored
  readonly expiresIn: number; // seconds
}

/** Sends small messages to every instance, including this one. They may get lost, so they must never be the only source of a fact. */
export interface Events {
  /** False while messages of other instances may be lost. Data that must be current is then read again. */
  readonly isConnected: boolean;
  /** Why the store rejects subscriptions, so that no message arrives; undefined if it accepts them. */
  readonly refusal?: { readonly reason: string; readonly since: number } | undefined; // epoch ms
  /** Sends a message to the subscribers of a channel. */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Subscribes to a channel, and returns a function that ends the subscription. `onGap` is called when the subscription is restored after
   * messages may have been lost.
   */
  subscribe(channel: string, listener: (message: string) => void, onGap?: () => void): Promise<() => void>;
}

/** Thrown if the store is down or too slow. */
export class SharedUnavailable extends Error {
  override readonly name = 'SharedUnavailable';
}

/**
 * Takes one request from the allowance of a key. Returns the seconds until the next attempt, or undefined if the request is allowed. While
 * the store is unavailable, requests are not limited.
 */
export async function takeRequest(
  { limiter }: Pick<Shared, 'limiter'>,
  key: string,
  limits: Limits,
): Promise<number | undefined> {
  try {
    const { refusedBy, retryAfter } = await limiter.take(key, limits);
    return refusedBy === undefined ? undefined : retryAfter;
  } catch (error) {
    if (error instanceof SharedUnavailable) return undefined;
    throw error;
  }
}
