/**
 * What the instances of one gateway share: counters, leases, cached answers, events. Two builds behind one interface:
 * `memory` for one process, `redis` for many. Both pass the same tests.
 *
 * Every call has a deadline of its own and rejects with SharedUnavailable when the store does not answer in time; what
 * to do then is the caller's decision. Times are taken from the store's clock, never from an instance's.
 */
export interface Shared extends AsyncDisposable {
  readonly kind: 'memory' | 'redis';
  readonly limiter: Limiter;
  readonly cache: Cache;
  readonly events: Events;
  /** Resolves when the store answers. @throws SharedUnavailable */
  ping(): Promise<void>;
}

/** GCRA (generic cell rate algorithm) with a bound on how many holders there are at once, decided in one step. */
export interface Limiter {
  /**
   * Takes one request out of the allowance of `key` and one of its concurrent slots, or neither.
   * A slot that is neither released nor renewed within a minute is free again: its holder has died.
   */
  take(key: string, limits: Limits): Take | Promise<Take>;
  /** Where the key stands, without taking anything. */
  peek(key: string, limits: Limits): Take | Promise<Take>;
  /** Gives the slot back. Safe to call more than once. */
  release(key: string, lease: string): void;
}

/** What a key may do. */
export interface Limits {
  readonly limit: number; // requests a period
  readonly period: number; // seconds
  readonly burst: number; // requests that may come at once
  readonly concurrent: number; // requests under way at the same time
}

/** What came of asking for one request more. */
export interface Take {
  /** Why the request may not go on; undefined when it may. */
  readonly refusedBy: 'rate' | 'concurrency' | undefined;
  /** Names the slot that was taken; undefined when none was. */
  readonly lease: string | undefined;
  readonly remaining: number; // requests that could be sent at once now
  readonly retryAfter: number; // seconds until one request would pass; 0 when it passed
  readonly resetAfter: number; // seconds until the whole burst is available again
}

/** Bytes under a key for a number of seconds, and claims that make one of many fill an entry. */
export interface Cache {
  /** Undefined when there is no entry, or none any more. */
  get(key: string): Promise<CacheEntry | undefined>;
  /** Older entries make room for newer ones when the store is full. */
  set(key: string, value: Buffer, seconds: number): Promise<void>;
  /**
   * True for exactly one caller among all instances until it releases the claim or `seconds` are over.
   *
   * @param owner unique to the caller; only it can release
   */
  claim(key: string, owner: string, seconds: number): Promise<boolean>;
  /** Lets a claim live `seconds` from now. False when its owner has lost it. */
  extend(key: string, owner: string, seconds: number): Promise<boolean>;
  release(key: string, owner: string): Promise<void>;
}

/** What is kept under a key. */
export interface CacheEntry {
  readonly value: Buffer;
  readonly age: number; // seconds since it was stored
  readonly expiresIn: number; // seconds
}

/** Small messages to every instance, this one included. Lost when nobody listens: never the only way to learn a thing. */
export interface Events {
  publish(channel: string, message: string): Promise<void>;
  /**
   * Returns the function that ends the subscription.
   *
   * @param onGap called when the channel is heard again after messages may have been missed
   */
  subscribe(channel: string, listener: (message: string) => void, onGap?: () => void): Promise<() => void>;
}

/** The store is away or too slow. */
export class SharedUnavailable extends Error {
  override readonly name = 'SharedUnavailable';
}
