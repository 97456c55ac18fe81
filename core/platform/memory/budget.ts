import { bounds } from '../bounds.ts';

/**
 * Bytes that are reserved for each byte of a body: what its path needs at most. A request is held as bytes, text, parsed
 * strings and encoded for the upstream, as text and as bytes; a whole reply as chunks, bytes, text and parsed strings; a long
 * event as all of that, and written again as text and as bytes within the same turn.
 * A form with files is held as it comes and as one piece, and never decoded.
 * A text with characters beyond ASCII takes two bytes for each character, twice.
 * Of a stream that is translated, what reads it and what writes it keep each character once.
 */
export const footprint = { request: 5, form: 2, wideText: 2, reply: 4, event: 8, kept: 2 } as const;

/** Memory pressure by the figures of the process: from `large` on large bodies are rejected, then new requests too. */
export type MemoryLevel = 'normal' | 'large' | 'all';

/** Something that is kept only because there is room for it: a cache. */
export interface Reclaimable {
  readonly held: number; // bytes
  /** Bytes that it never exceeds. */
  readonly most: number;
  /** Gives back at least this many bytes, or all of them. */
  giveBack(bytes: number): void;
}

interface SizedEntries {
  readonly size: number;
  readonly calculatedSize: number; // bytes
  readonly maxSize: number;
  pop(): unknown;
}

/** Gives back the entries that were used longest ago. */
export function evictable(entries: SizedEntries): Reclaimable {
  return {
    get held() {
      return entries.calculatedSize;
    },
    most: entries.maxSize,
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

/** Ms for which the health check reports a refusal. */
export const remembered = 60_000;

/** A share up to this size may use the reserve and does not count for its owner. */
const smallShareBytes = bounds.smallBody * footprint.request;

/**
 * Limits the memory of all bodies and caches of the process together. Bytes are reserved as they arrive, and nothing waits for
 * room: a reservation that does not fit is rejected. An eighth is a reserve for small bodies, so that large ones are refused first. One
 * owner, an account or the address of a caller without a key, gets at most a quarter; only the first body that exceeds it may
 * continue, because a quarter can be less than the largest valid body.
 *
 * Source of the idea: Envoy's overload manager.
 */
export class ProcessMemory {
  readonly capacity: number; // bytes
  readonly refusals: MemoryRefusals = { body: 0, reply: 0, request: 0 };
  level: MemoryLevel = 'normal';
  /**
   * Bytes by which large shares may grow, by what the process really uses, until its figures are read again. A share that
   * ends gives nothing back to it: what it held is garbage.
   */
  room = Number.POSITIVE_INFINITY;
  /** Reads the figures again because a large share does not fit. @returns true when that has collected garbage */
  findRoom: () => boolean = () => false;
  /** Time of the last rejection (performance.now()). */
  refusedAt = Number.NEGATIVE_INFINITY;
  /** Start (epoch ms) of the current series of rejections, with less than `remembered` between them. */
  refusedSince = 0;
  readonly #monotonic: () => number;
  #reserved = 0;
  readonly #kept: Reclaimable[] = [];
  #mostKept = 0;
  readonly #owners = new Map<string, Owner>(); // large shares only
  #largeShares = 0;
  /** The large share that grows although the process has no room for it. */
  #exempt: MemoryShare | undefined;

  constructor(capacity: number, monotonic = () => performance.now()) {
    this.capacity = capacity;
    this.#monotonic = monotonic;
  }

  get reserved(): number {
    return this.#reserved;
  }

  /** Bytes of values that are kept only while there is room. */
  get kept(): number {
    let bytes = 0;
    for (const { held } of this.#kept) bytes += held;
    return bytes;
  }

  /** Counts a cache from now on, and empties it when its room is needed. */
  keep(reclaimable: Reclaimable): void {
    this.#kept.push(reclaimable);
    this.#mostKept += reclaimable.most;
  }

  /** Empties the caches by this many bytes. */
  reclaim(bytes: number): void {
    for (const one of this.#kept) one.giveBack(bytes);
  }

  /** False when there is no room to keep this many bytes. */
  mayKeep(bytes: number): boolean {
    return this.level === 'normal' && this.#reserved + this.kept + bytes <= this.capacity;
  }

  /** Memory held by one exchange, initially none. */
  share(owner: string): MemoryShare {
    return new MemoryShare(this, owner);
  }

  /** True if the next request must be rejected. Some are accepted, as only they show that there is memory again. */
  get isExhausted(): boolean {
    return this.level === 'all' && this.#reserved > 0;
  }

  refuse(what: keyof MemoryRefusals): void {
    this.refusals[what]++;
    const now = this.#monotonic();
    if (now - this.refusedAt > remembered) this.refusedSince = Date.now();
    this.refusedAt = now;
  }

  /** Resizes a share. @returns false when it does not fit and `mustFit`; for shares only */
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
    const most = isSmall ? this.capacity : (this.capacity * 7) / 8;
    const needed = this.#reserved + to - share.bytes - most;
    if (needed > 0) return false;
    if (needed + this.#mostKept > 0) this.#makeRoom(needed + this.kept);
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
   * The figures of the process may never fall far enough for the largest valid body, and what has been freed is given back
   * later. One that is alone is therefore accepted, with all that it still needs, once garbage has been collected for it.
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
  /** The share that may exceed the quarter, so that one of several is served. */
  largest: MemoryShare | undefined;
}

/** Counting a small share costs more than it holds. */
function countedFor(bytes: number): number {
  return bytes > smallShareBytes ? bytes : 0;
}

/** Part of a budget: the bytes that one exchange has reserved, until it is over. */
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

  /** @returns false when it does not fit: nothing is reserved then, and the work that needed the bytes must end */
  grow(bytes: number): boolean {
    if (this.#isReleased || !this.#budget.resize(this, this.#bytes + bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Counts bytes that exist already, such as those that a slow client has not read. */
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

  /** Counts something that did not fit. */
  refuse(what: keyof MemoryRefusals): void {
    this.#budget.refuse(what);
  }

  /** The exchange is over. */
  release(): void {
    this.shrink(this.#bytes);
    this.#isReleased = true;
  }
}

/** For code outside of a gateway: tests of plugins. */
export const unlimitedMemory = new ProcessMemory(Number.POSITIVE_INFINITY);
