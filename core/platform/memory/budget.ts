import { bounds } from '../bounds.ts';

/**
 * Bytes reserved per byte of a body: the most that processing it holds at once. A request is held as bytes, text, parsed strings and
 * re-encoded for the upstream as text and bytes; a whole reply as chunks, bytes, text and parsed strings; a long event as all of those plus
 * its rewritten text and bytes, within one turn.
 * A form with files is held as received and as one joined piece, and never decoded.
 * Text with characters beyond ASCII takes two bytes per character, in two copies.
 * In a translated stream, reader and writer each keep every character once.
 */
export const footprint = { request: 5, form: 2, wideText: 2, reply: 4, event: 8, kept: 2 } as const;

/** Memory pressure as measured on the process: from `large` on, large bodies are rejected; at `all`, new requests too. */
export type MemoryLevel = 'normal' | 'large' | 'all';

/** A cache: memory that can be freed whenever it is excess. */
export interface Reclaimable {
  readonly held: number; // bytes
  /** Upper bound of `held` in bytes. */
  readonly maxBytes: number;
  /** Frees at least this many bytes, or everything. */
  giveBack(bytes: number): void;
}

interface SizedEntries {
  readonly size: number;
  readonly calculatedSize: number; // bytes
  readonly maxSize: number;
  pop(): unknown;
}

/** Frees the least recently used entries. */
export function evictable(entries: SizedEntries): Reclaimable {
  return {
    get held() {
      return entries.calculatedSize;
    },
    maxBytes: entries.maxSize,
    giveBack(bytes) {
      const goal = entries.calculatedSize - bytes;
      while (entries.size > 0 && entries.calculatedSize > goal) entries.pop();
    },
  };
}

interface MemoryRefusals {
  body: number;
  reply: number;
  request: number;
}

/** How long the health check reports a rejection, ms. */
export const refusalReportMs = 60_000;

/** Shares up to this size may use the reserve and are not counted for their owner. */
const smallShareBytes = bounds.smallBody * footprint.request;

/**
 * Limits the total memory of the process's bodies and caches. Bytes are reserved as they arrive, without waiting: a reservation that does
 * not fit is rejected. An eighth is reserved for small bodies, so that large ones are rejected first. Each owner (an account, or the
 * address of a caller without a key) gets at most a quarter; its first body beyond that may continue, because a quarter can be less than
 * the largest valid body.
 *
 * Source of the idea: Envoy's overload manager.
 */
export class ProcessMemory {
  readonly capacity: number; // bytes
  readonly refusals: MemoryRefusals = { body: 0, reply: 0, request: 0 };
  level: MemoryLevel = 'normal';
  /**
   * Bytes by which large shares may still grow, from the measured memory use; updated with the next measurement. Releasing a share does not
   * increase it, because its memory is garbage that has not been collected yet.
   */
  room = Number.POSITIVE_INFINITY;
  /**
   * Measures again because a large share does not fit.
   *
   * @returns true if garbage was collected
   */
  findRoom: () => boolean = () => false;
  /** Time of the last rejection (performance.now()). */
  refusedAt = Number.NEGATIVE_INFINITY;
  /** Start (epoch ms) of the current series of rejections, with less than `refusalReportMs` between them. */
  refusedSince = 0;
  readonly #monotonic: () => number;
  #reserved = 0;
  readonly #caches: Reclaimable[] = [];
  #maxCacheBytes = 0;
  readonly #owners = new Map<string, Owner>(); // large shares only
  #largeShares = 0;
  /** The large share that may grow although the process has no room for it. */
  #exempt: MemoryShare | undefined;

  constructor(capacity: number, monotonic = () => performance.now()) {
    this.capacity = capacity;
    this.#monotonic = monotonic;
  }

  get reserved(): number {
    return this.#reserved;
  }

  /** Bytes held by caches. */
  get kept(): number {
    let bytes = 0;
    for (const { held } of this.#caches) bytes += held;
    return bytes;
  }

  /** Registers a cache, which is emptied when its memory is excess. */
  keep(reclaimable: Reclaimable): void {
    this.#caches.push(reclaimable);
    this.#maxCacheBytes += reclaimable.maxBytes;
  }

  /** Frees this many bytes of each cache. */
  reclaim(bytes: number): void {
    for (const cache of this.#caches) cache.giveBack(bytes);
  }

  /** False if there is no room to cache this many bytes. */
  mayKeep(bytes: number): boolean {
    return this.level === 'normal' && this.#reserved + this.kept + bytes <= this.capacity;
  }

  /** Memory held by one exchange, initially none. */
  share(owner: string): MemoryShare {
    return new MemoryShare(this, owner);
  }

  /**
   * True if the next request must be rejected. With nothing reserved it is accepted, because only a request shows that memory is available
   * again.
   */
  get isExhausted(): boolean {
    return this.level === 'all' && this.#reserved > 0;
  }

  refuse(what: keyof MemoryRefusals): void {
    this.refusals[what]++;
    const now = this.#monotonic();
    if (now - this.refusedAt > refusalReportMs) this.refusedSince = Date.now();
    this.refusedAt = now;
  }

  /**
   * Resizes a share; called by shares only.
   *
   * @returns false if `mustFit` and it does not fit
   */
  resize(share: MemoryShare, to: number, mustFit = true): boolean {
    const from = share.bytes;
    if (mustFit && to > from && !this.#fits(share, to)) return false;
    this.#reserved += to - from;
    const change = countedFor(to) - countedFor(from);
    if (change !== 0) this.#resizeLarge(share, change);
    return true;
  }

  /** Adds or removes a large share's bytes for its owner. */
  count(share: MemoryShare, change: number): void {
    const owner = this.#owners.get(share.owner) ?? { bytes: 0, largest: undefined };
    owner.bytes += change;
    if (owner.largest === share && countedFor(share.bytes + change) === 0) owner.largest = undefined;
    if (owner.bytes > 0) this.#owners.set(share.owner, owner);
    else this.#owners.delete(share.owner);
  }

  #fits(share: MemoryShare, to: number): boolean {
    const isSmall = to <= smallShareBytes;
    if (!isSmall && !this.#mayBeLarge(share, to)) return false;
    const limit = isSmall ? this.capacity : (this.capacity * 7) / 8;
    const excess = this.#reserved + to - share.bytes - limit;
    if (excess > 0) return false;
    if (excess + this.#maxCacheBytes > 0) this.#makeRoom(excess + this.kept);
    return true;
  }

  #makeRoom(bytes: number): void {
    if (bytes > 0) this.reclaim(bytes);
  }

  #mayBeLarge(share: MemoryShare, to: number): boolean {
    const growth = to - countedFor(share.bytes);
    const owner = this.#owners.get(share.owner);
    const held = owner?.bytes ?? 0;
    if (held + growth > this.capacity / 4 && owner !== undefined) {
      owner.largest ??= share;
      if (owner.largest !== share) return false;
    }
    return growth <= this.room || share === this.#exempt || this.#findRoom(share, growth);
  }

  /**
   * Measured use may never fall far enough for the largest valid body, and freed memory returns to the system only later. After a
   * collection, a single large body is therefore accepted, including its further growth.
   */
  #findRoom(share: MemoryShare, growth: number): boolean {
    const isCollected = this.findRoom();
    const isAlone = this.#largeShares === (countedFor(share.bytes) > 0 ? 1 : 0);
    if (isCollected && isAlone) this.#exempt = share;
    return growth <= this.room || share === this.#exempt;
  }

  #resizeLarge(share: MemoryShare, change: number): void {
    const before = countedFor(share.bytes);
    this.room -= Math.max(0, change);
    if (before === 0) this.#largeShares++;
    else if (before + change === 0) {
      this.#largeShares--;
      if (this.#exempt === share) this.#exempt = undefined;
    }
    this.count(share, change);
  }
}

interface Owner {
  bytes: number;
  /** The only share that may exceed the quarter, so that one of several requests is served. */
  largest: MemoryShare | undefined;
}

/** Small shares are not counted: that would cost more than it saves. */
function countedFor(bytes: number): number {
  return bytes > smallShareBytes ? bytes : 0;
}

/** Bytes reserved by one exchange until it ends. */
export class MemoryShare {
  readonly #budget: ProcessMemory;
  #owner: string;
  #bytes = 0;
  #isReleased = false;

  constructor(budget: ProcessMemory, owner: string) {
    this.#budget = budget;
    this.#owner = owner;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Account, or address of a caller without a key. */
  get owner(): string {
    return this.#owner;
  }

  set owner(owner: string) {
    const counted = countedFor(this.#bytes);
    if (counted > 0) this.#budget.count(this, -counted);
    this.#owner = owner;
    if (counted > 0) this.#budget.count(this, counted);
  }

  /** @returns false if it does not fit: nothing is reserved then, and the caller must end the work that needed the bytes */
  grow(bytes: number): boolean {
    if (this.#isReleased || !this.#budget.resize(this, this.#bytes + bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Counts bytes already allocated, such as those that a slow client has not read. */
  add(bytes: number): void {
    if (this.#isReleased) return;
    this.#budget.resize(this, this.#bytes + bytes, false);
    this.#bytes += bytes;
  }

  shrink(bytes: number): void {
    if (this.#isReleased || bytes === 0) return;
    this.#budget.resize(this, this.#bytes - bytes);
    this.#bytes -= bytes;
  }

  /** Counts a rejection for lack of memory. */
  refuse(what: keyof MemoryRefusals): void {
    this.#budget.refuse(what);
  }

  /** Releases all bytes; later calls have no effect. */
  release(): void {
    this.shrink(this.#bytes);
    this.#isReleased = true;
  }
}

/** For code that runs without a gateway, such as tests of plugins. */
export const unlimitedMemory = new ProcessMemory(Number.POSITIVE_INFINITY);
