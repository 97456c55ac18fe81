import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import { createReclaimable, type ProcessMemory, unlimitedMemory } from '../memory/budget.ts';
import { capArrival, computeDebtUs, createTake, computeIntervalUs, computeWaitUs } from './gcra.ts';
import { MemoryGroups } from './memory-groups.ts';
import type { Cache, CacheEntry, Events, GroupCache, Limiter, Limits, Shared, Take } from './shared.ts';

const entryOverheadBytes = 500; // without key and value
const sweepThreshold = 10_000; // keys

export interface MemorySharedOptions {
  readonly memory?: ProcessMemory; // counts the cached values, and evicts them if bodies need the memory
  readonly sizes?: { readonly replies: number; readonly groups: number }; // maximum bytes of cached replies, and of values in groups
}

/** Shared state of a gateway with one process. */
export class MemoryShared implements Shared {
  readonly kind = 'memory';
  readonly limiter: Limiter;
  readonly cache: Cache;
  readonly groups: GroupCache;
  readonly events: Events = new MemoryEvents();

  /** @param now monotonic clock in ms, replaced in tests */
  constructor(now: () => number = readMonotonic, { memory = unlimitedMemory, sizes }: MemorySharedOptions = {}) {
    this.limiter = new MemoryLimiter(now);
    this.cache = new MemoryCache(now, memory, sizes?.replies);
    this.groups = new MemoryGroups(now, memory, sizes?.groups);
  }

  async ping(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

const readMonotonic = () => performance.now();

interface KeyState {
  arrival: number; // µs
  leases: Set<string>;
}

/** Limiter of a single process. Slots do not expire, because they end with the process. */
export class MemoryLimiter implements Limiter {
  readonly instances = 1;
  readonly #now: () => number;
  readonly #keyStates = new Map<string, KeyState>();
  readonly #leasePrefix = `${randomUUID().slice(0, 8)}-`; // of this limiter; short, because every request creates such a string
  #lastLease = 0;
  #nextSweepSize = sweepThreshold;

  constructor(now: () => number = readMonotonic) {
    this.#now = now;
  }

  take(key: string, limits: Limits): Take {
    const state = this.#getKeyState(key);
    const now = this.#microseconds();
    state.arrival = capArrival(state.arrival, now, limits);
    const debt = computeDebtUs(state.arrival, now);
    const waitUs = computeWaitUs(debt, limits);
    if (waitUs > 0) return createTake(debt, limits, waitUs, 'rate', undefined);
    const { concurrent = Infinity } = limits;
    if (state.leases.size >= concurrent) return createTake(debt, limits, 1_000_000, 'concurrency', undefined);
    const newDebt = debt + computeIntervalUs(limits);
    state.arrival = now + newDebt;
    const lease = limits.concurrent === undefined ? undefined : this.#leasePrefix + ++this.#lastLease;
    if (lease !== undefined) state.leases.add(lease);
    return createTake(newDebt, limits, 0, undefined, lease);
  }

  peek(key: string, limits: Limits): Take {
    const state = this.#keyStates.get(key);
    const now = this.#microseconds();
    if (state !== undefined) state.arrival = capArrival(state.arrival, now, limits);
    const take = createTake(computeDebtUs(state?.arrival ?? 0, now), limits, 0, undefined, undefined);
    return { ...take, running: state?.leases.size ?? 0 };
  }

  /** Adopts another limiter's decision for the key, so that this limiter can continue from it. */
  adopt(key: string, { resetAfter, lease }: Take): void {
    const state = this.#getKeyState(key);
    state.arrival = this.#microseconds() + Math.round(resetAfter * 1_000_000);
    if (lease !== undefined) state.leases.add(lease);
  }

  get keyCount(): number {
    return this.#keyStates.size;
  }

  release(key: string, lease: string): void {
    const state = this.#keyStates.get(key);
    if (state?.leases.has(lease) !== true) return;
    // Emptying a set repeatedly creates a chain of tables that only a full collection frees.
    if (state.leases.size === 1) state.leases = new Set();
    else state.leases.delete(lease);
  }

  #microseconds(): number {
    return Math.round(this.#now() * 1000);
  }

  #getKeyState(key: string): KeyState {
    const existing = this.#keyStates.get(key);
    if (existing !== undefined) return existing;
    if (this.#keyStates.size >= this.#nextSweepSize) this.#sweep();
    const state = { arrival: 0, leases: new Set<string>() };
    this.#keyStates.set(key, state);
    return state;
  }

  #sweep(): void {
    const now = this.#microseconds();
    for (const [key, { arrival, leases }] of this.#keyStates)
      if (arrival <= now && leases.size === 0) this.#keyStates.delete(key);
    // With many keys in use, a sweep frees little, so the next one waits until their number has doubled.
    this.#nextSweepSize = Math.max(sweepThreshold, this.#keyStates.size * 2);
  }
}

interface StoredEntry {
  readonly value: Buffer;
  readonly storedAt: number; // ms
  readonly expiresAt: number; // ms
}

interface Claim {
  readonly owner: string;
  expiresAt: number; // ms
}

class MemoryCache implements Cache {
  readonly #now: () => number;
  readonly #memory: ProcessMemory;
  readonly #entries: LRUCache<string, StoredEntry>;
  readonly #claims = new Map<string, Claim>();

  constructor(now: () => number, memory: ProcessMemory, size: number = bounds.memoryCache) {
    this.#now = now;
    this.#memory = memory;
    this.#entries = new LRUCache<string, StoredEntry>({
      maxSize: size,
      sizeCalculation: ({ value }, key) => value.length + key.length + entryOverheadBytes,
    });
    memory.registerCache(createReclaimable(this.#entries));
  }

  async get(key: string): Promise<CacheEntry | undefined> {
    const entry = this.#entries.get(key);
    const now = this.#now();
    // An expired entry is not deleted here, because it is replaced or evicted later.
    if (entry === undefined || entry.expiresAt <= now) return undefined;
    return { value: entry.value, age: (now - entry.storedAt) / 1000, expiresIn: (entry.expiresAt - now) / 1000 };
  }

  async set(key: string, value: Buffer, seconds: number): Promise<void> {
    if (!this.#memory.canCache(value.length)) return;
    const storedAt = this.#now();
    // Copied, because a small buffer is a slice of a large pool and would keep the whole pool alive.
    const copy = Buffer.allocUnsafeSlow(value.length);
    value.copy(copy);
    this.#entries.set(key, { value: copy, storedAt, expiresAt: storedAt + seconds * 1000 });
  }

  async claim(key: string, owner: string, seconds: number): Promise<boolean> {
    const now = this.#now();
    const existing = this.#claims.get(key);
    if (existing !== undefined && existing.expiresAt > now) return false;
    this.#claims.set(key, { owner, expiresAt: now + seconds * 1000 });
    return true;
  }

  async extend(key: string, owner: string, seconds: number): Promise<boolean> {
    const now = this.#now();
    const claim = this.#claims.get(key);
    if (claim === undefined || claim.owner !== owner || claim.expiresAt <= now) return false;
    claim.expiresAt = now + seconds * 1000;
    return true;
  }

  async release(key: string, owner: string): Promise<void> {
    if (this.#claims.get(key)?.owner === owner) this.#claims.delete(key);
  }
}

class MemoryEvents implements Events {
  readonly isConnected = true;
  readonly #emitter = new EventEmitter().setMaxListeners(0);

  async publish(channel: string, message: string): Promise<void> {
    this.#emitter.emit(channel, message);
  }

  async subscribe(channel: string, listener: (message: string) => void): Promise<() => void> {
    this.#emitter.on(channel, listener);
    return () => this.#emitter.off(channel, listener);
  }
}
