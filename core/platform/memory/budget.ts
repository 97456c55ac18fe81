import { bounds } from '../bounds.ts';

/**
 * Bytes reserved per byte of a body: the most that processing it holds at once.
 *
 * - `request`: bytes, text and parsed strings, then text and bytes for the upstream.
 * - `form`: a form with files, as received and joined; it is never decoded.
 * - `wideText`: non-ASCII text takes two bytes per character, in two copies.
 * - `reply`: a buffered reply as chunks, bytes, text and parsed strings.
 * - `event`: a long event as all of these, plus its rewritten text and bytes.
 * - `translated`: in a translated stream, the reader and the writer each store every character.
 */
export const footprint = { request: 5, form: 2, wideText: 2, reply: 4, event: 8, translated: 2 } as const;

/** Memory pressure measured on the process. `large`: large bodies are rejected. `all`: new requests are rejected too. */
export type MemoryLevel = 'normal' | 'large' | 'all';

/** Memory that can be freed at any time, such as a cache. */
export interface Reclaimable {
  readonly heldBytes: number;
  readonly maxBytes: number;
  /** Frees at least this many bytes, or everything. */
  free(bytes: number): void;
}

interface SizedEntries {
  readonly size: number;
  readonly calculatedSize: number; // bytes
  readonly maxSize: number;
  pop(): unknown;
}

/** Creates the `Reclaimable` of an LRU cache, which frees the least recently used entries. */
export function createReclaimable(entries: SizedEntries): Reclaimable {
  return {
    get heldBytes() {
      return entries.calculatedSize;
    },
    maxBytes: entries.maxSize,
    free(bytes) {
      const targetBytes = entries.calculatedSize - bytes;
      while (entries.size > 0 && entries.calculatedSize > targetBytes) entries.pop();
    },
  };
}

interface MemoryRefusals {
  body: number;
  reply: number;
  request: number;
}

export const refusalReportMs = 60_000; // how long the health check reports a rejection

const smallShareBytes = bounds.smallBody * footprint.request; // may use the reserve for small bodies; not counted for their owner

/**
 * Limits the total memory of the process's bodies and caches. Bytes are reserved as they arrive, and a reservation that does not fit is
 * rejected immediately. An eighth is reserved for small bodies, so that large ones are rejected first. Each owner (an account, or the
 * address of a caller without a key) gets at most a quarter. The first body that exceeds the quarter may continue, because a quarter can be
 * less than the largest valid body.
 *
 * Modeled on Envoy's overload manager.
 */
export class ProcessMemory {
  readonly capacity: number; // bytes
  readonly refusals: MemoryRefusals = { body: 0, reply: 0, request: 0 };
  level: MemoryLevel = 'normal';
  /**
   * Bytes by which large shares may still grow, derived from each measurement of memory use. Releasing a share does not increase it, because
   * the released memory is garbage that has not been collected yet.
   */
  room = Number.POSITIVE_INFINITY;
  /** Measures memory use again, if a large share does not fit. Returns true if garbage was collected. */
  measureRoom: () => boolean = () => false;
  /** When a request was last rejected (performance.now()). */
  refusedAt = Number.NEGATIVE_INFINITY;
  /** When the current series of rejections began (epoch ms). Within a series, less than `refusalReportMs` pass between rejections. */
  refusedSince = 0;
  readonly #monotonic: () => number;
  #reserved = 0;
  readonly #caches: Reclaimable[] = [];
  #maxCacheBytes = 0;
  readonly #owners = new Map<string, OwnerUsage>(); // large shares only
  #largeShares = 0;
  #exemptShare: MemoryShare | undefined; // may grow even if the process has no room for it

  constructor(capacity: number, monotonic = () => performance.now()) {
    this.capacity = capacity;
    this.#monotonic = monotonic;
  }

  get reserved(): number {
    return this.#reserved;
  }

  get cachedBytes(): number {
    let bytes = 0;
    for (const { heldBytes } of this.#caches) bytes += heldBytes;
    return bytes;
  }

  /** Registers a cache whose memory is freed when bodies need it. */
  registerCache(cache: Reclaimable): void {
    this.#caches.push(cache);
    this.#maxCacheBytes += cache.maxBytes;
  }

  /** Frees this many bytes of each cache. */
  reclaim(bytes: number): void {
    for (const cache of this.#caches) cache.free(bytes);
  }

  canCache(bytes: number): boolean {
    return this.level === 'normal' && this.#reserved + this.cachedBytes + bytes <= this.capacity;
  }

  createShare(owner: string): MemoryShare {
    return new MemoryShare(this, owner);
  }

  /**
   * True if the next request must be rejected. While nothing is reserved, requests are accepted, because only a request shows whether
   * memory is available again.
   */
  get isExhausted(): boolean {
    return this.level === 'all' && this.#reserved > 0;
  }

  countRefusal(kind: keyof MemoryRefusals): void {
    this.refusals[kind]++;
    const now = this.#monotonic();
    if (now - this.refusedAt > refusalReportMs) this.refusedSince = Date.now();
    this.refusedAt = now;
  }

  /** Grows a share if it fits, otherwise returns false and changes nothing; called by shares only. */
  tryToGrow(share: MemoryShare, newBytes: number): boolean {
    if (newBytes > share.bytes && !this.#tryToFit(share, newBytes)) return false;
    this.resize(share, newBytes);
    return true;
  }

  /** Resizes a share without a check; called by shares only. */
  resize(share: MemoryShare, newBytes: number): void {
    this.#reserved += newBytes - share.bytes;
    const change = countLargeBytes(newBytes) - countLargeBytes(share.bytes);
    if (change !== 0) this.#resizeLarge(share, change);
  }

  /** Adds a large share's change in bytes to its owner. */
  countForOwner(share: MemoryShare, change: number): void {
    const usage = this.#owners.get(share.owner) ?? { bytes: 0, exceedingShare: undefined };
    usage.bytes += change;
    if (usage.exceedingShare === share && countLargeBytes(share.bytes + change) === 0) usage.exceedingShare = undefined;
    if (usage.bytes > 0) this.#owners.set(share.owner, usage);
    else this.#owners.delete(share.owner);
  }

  #tryToFit(share: MemoryShare, newBytes: number): boolean {
    const isSmall = newBytes <= smallShareBytes;
    if (!isSmall && !this.#admitLarge(share, newBytes)) return false;
    const limit = isSmall ? this.capacity : (this.capacity * 7) / 8;
    const excess = this.#reserved + newBytes - share.bytes - limit;
    if (excess > 0) return false;
    if (excess + this.#maxCacheBytes <= 0) return true;
    const cacheExcess = excess + this.cachedBytes;
    if (cacheExcess > 0) this.reclaim(cacheExcess);
    return true;
  }

  #admitLarge(share: MemoryShare, newBytes: number): boolean {
    const growth = newBytes - countLargeBytes(share.bytes);
    const owner = this.#owners.get(share.owner);
    const ownerBytes = owner?.bytes ?? 0;
    if (ownerBytes + growth > this.capacity / 4 && owner !== undefined) {
      owner.exceedingShare ??= share;
      if (owner.exceedingShare !== share) return false;
    }
    return growth <= this.room || share === this.#exemptShare || this.#findRoom(share, growth);
  }

  /**
   * Collects garbage. Measured use may never fall far enough for the largest valid body, and freed memory returns to the system only later.
   * If the share is the only large one, it is therefore accepted after a collection, including its further growth.
   */
  #findRoom(share: MemoryShare, growth: number): boolean {
    const isCollected = this.measureRoom();
    const isAlone = this.#largeShares === (countLargeBytes(share.bytes) > 0 ? 1 : 0);
    if (isCollected && isAlone) this.#exemptShare = share;
    return growth <= this.room || share === this.#exemptShare;
  }

  #resizeLarge(share: MemoryShare, change: number): void {
    const before = countLargeBytes(share.bytes);
    this.room -= Math.max(0, change);
    if (before === 0) this.#largeShares++;
    else if (before + change === 0) {
      this.#largeShares--;
      if (this.#exemptShare === share) this.#exemptShare = undefined;
    }
    this.countForOwner(share, change);
  }
}

interface OwnerUsage {
  bytes: number;
  exceedingShare: MemoryShare | undefined; // may exceed the quarter, so that one of several requests is served
}

/** Small shares are not tracked by owner, because tracking would cost more than it saves. */
function countLargeBytes(bytes: number): number {
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

  /** The account, or the address of a caller without a key. */
  get owner(): string {
    return this.#owner;
  }

  set owner(owner: string) {
    const ownerBytes = countLargeBytes(this.#bytes);
    if (ownerBytes > 0) this.#budget.countForOwner(this, -ownerBytes);
    this.#owner = owner;
    if (ownerBytes > 0) this.#budget.countForOwner(this, ownerBytes);
  }

  /** Reserves more bytes. If they do not fit, returns false and reserves nothing; the caller must end the work that needed them. */
  grow(bytes: number): boolean {
    if (this.#isReleased || !this.#budget.tryToGrow(this, this.#bytes + bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Counts bytes that are already allocated, such as those that a slow client has not read. */
  add(bytes: number): void {
    if (this.#isReleased) return;
    this.#budget.resize(this, this.#bytes + bytes);
    this.#bytes += bytes;
  }

  shrink(bytes: number): void {
    if (this.#isReleased || bytes === 0) return;
    this.#budget.resize(this, this.#bytes - bytes);
    this.#bytes -= bytes;
  }

  countRefusal(kind: keyof MemoryRefusals): void {
    this.#budget.countRefusal(kind);
  }

  /** Releases all bytes; later calls have no effect. */
  release(): void {
    this.shrink(this.#bytes);
    this.#isReleased = true;
  }
}

/** Budget for code that runs without a gateway, such as tests of plugins. */
export const unlimitedMemory = new ProcessMemory(Number.POSITIVE_INFINITY);
