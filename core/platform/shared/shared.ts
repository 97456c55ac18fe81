import type { SlotStore } from './slots.ts';

/**
 * State that the instances of one gateway share: counters, leases, cached replies, events. Two implementations pass the
 * same tests: `memory` for one process, `redis` for many.
 *
 * Every call has a deadline and rejects with SharedUnavailable if the store does not respond in time; handling that is up to the
 * caller. Times come from the store's clock, never from an instance's.
 */
export interface Shared extends AsyncDisposable {
  readonly kind: 'memory' | 'redis';
  readonly limiter: Limiter;
  readonly cache: Cache;
  readonly groups: GroupCache;
  readonly events: Events;
  /** Undefined for a single process, which shares no slots. */
  readonly slots?: SlotStore;
  /**
   * Resolves when the store responds, and limits are therefore shared.
   *
   * @throws SharedUnavailable
   */
  ping(): Promise<void>;
}

/** GCRA (generic cell rate algorithm) and a limit of concurrent holders, decided in one step. */
export interface Limiter {
  /** Last known number of instances that use this store for limits. */
  readonly instances: number;
  /**
   * Takes one request out of the allowance of `key` and one of its concurrent slots, or neither. Without a limit of concurrent
   * requests it takes no slot. The slot of a dead instance is free again after 25 s.
   *
   * @param fallback used when the store is late; undefined to keep waiting
   */
  take(key: string, limits: Limits, fallback?: () => Take | undefined): Take | Promise<Take>;
  /** The state of the key; takes no request and no slot. */
  peek(key: string, limits: Limits, fallback?: () => Take | undefined): Take | Promise<Take>;
  /** Releases the slot. Safe to call more than once. */
  release(key: string, lease: string): void;
}

/** The limits of a key. */
export interface Limits {
  readonly limit: number; // requests per period
  readonly period: number; // seconds
  readonly burst: number; // requests that may arrive at once
  readonly concurrent?: number | undefined; // requests in flight; default: no limit
}

/** The result of asking for one more request. */
export interface Take {
  /** The limit that refuses the request; undefined if it is allowed. */
  readonly refusedBy: 'rate' | 'concurrency' | undefined;
  /** Id of the taken slot; undefined if none was taken. */
  readonly lease: string | undefined;
  readonly remaining: number; // requests that could be sent at once now
  readonly retryAfter: number; // seconds until one request would pass; 0 if it passed
  readonly resetAfter: number; // seconds until the whole burst is available again
  /** Concurrent slots in use, including this request's; undefined if only `peek` counts them. */
  readonly running?: number | undefined;
}

/** Bytes under a key for a number of seconds, and claims that let one of many callers fill an entry. */
export interface Cache {
  /** Undefined if there is no entry or it has expired. */
  get(key: string): Promise<CacheEntry | undefined>;
  /** Stores an entry. Older entries make room for newer ones when the store is full. */
  set(key: string, value: Buffer, seconds: number): Promise<void>;
  /**
   * True for exactly one caller among all instances until it releases the claim or `seconds` are over.
   *
   * @param owner unique to the caller; only it can release
   */
  claim(key: string, owner: string, seconds: number): Promise<boolean>;
  /** Extends a claim to `seconds` from now. False if its owner has lost it. */
  extend(key: string, owner: string, seconds: number): Promise<boolean>;
  release(key: string, owner: string): Promise<void>;
}

/** Small values by group and name. A group's oldest values make room for its new ones, so no group fills the store. */
export interface GroupCache {
  /** Reads the values with these names in one round trip; missing and expired values are not in the map. */
  get(group: string, names: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** Sets values in one round trip. A value larger than the limit of the whole group is not kept. */
  set(group: string, entries: ReadonlyMap<string, Buffer>, limits: GroupLimits): Promise<void>;
}

export interface GroupLimits {
  readonly seconds: number; // lifetime of a value
  readonly entries: number;
  readonly bytes: number; // maximum of all values together
}

/** A cached value. */
export interface CacheEntry {
  readonly value: Buffer;
  readonly age: number; // seconds since it was stored
  readonly expiresIn: number; // seconds
}

/** Small messages to every instance, including this one. They may get lost, so they must never be the only source of a fact. */
export interface Events {
  /** False while messages of other instances may be missed; read data that must be current again then. */
  readonly isConnected: boolean;
  /** Reason why the store rejects subscriptions, so that no message arrives; undefined if it accepts them. */
  readonly refusal?: { readonly reason: string; readonly since: number } | undefined; // epoch ms
  publish(channel: string, message: string): Promise<void>;
  /**
   * Subscribes to a channel. Returns the function that ends the subscription.
   *
   * @param onGap called when the subscription is restored after messages may have been lost
   */
  subscribe(channel: string, listener: (message: string) => void, onGap?: () => void): Promise<() => void>;
}

/** The store is down or too slow. */
export class SharedUnavailable extends Error {
  override readonly name = 'SharedUnavailable';
}

/**
 * Takes one request out of the allowance of a key. Without the store, requests are not limited.
 *
 * @returns seconds until the next attempt; undefined if this one may proceed
 */
export async function refusedFor(
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
