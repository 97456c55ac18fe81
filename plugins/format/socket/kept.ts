import { sizeOf } from '#core/platform/memory/collected-bytes.ts';
import type { Reclaimable } from '#core/platform/memory/budget.ts';
import { type ItemsOutline, type OutlinedItems, outlineOfItems } from '#core/platform/json-outline/outline.ts';
import { freeBytes, lendBytes, reclaimBytes } from '#core/platform/memory/freed-bytes.ts';

const overhead = 1_024; // bytes of a conversation without its segments, and of a segment without its items
const segmentOverhead = 896;

/** Bytes up to which a segment is copied into the next one: a conversation of many short turns has few segments. */
const shortSegment = 8_192;

/** Items of a conversation as they are written, each with a comma behind it. Several conversations may have them; the last one frees them. */
export class KeptItems implements OutlinedItems {
  readonly bytes: Buffer;
  readonly #count: (bytes: number) => void;
  readonly #mayGrow: (segment: KeptItems, bytes: number) => boolean;
  #outline: ItemsOutline | undefined;
  /** It has no outline: it is too short, or not one that can be used. */
  #hasNone = false;
  #size: number;
  #holders = 0;

  /**
   * @param pieces are copied: they may be slices of a frame with much more in it
   * @param count told how many bytes of memory it takes or, less than zero, frees
   * @param mayGrow asked whether its outline may be kept
   */
  constructor(
    pieces: readonly Buffer[],
    count: (bytes: number) => void,
    mayGrow: (segment: KeptItems, bytes: number) => boolean,
  ) {
    const size = sizeOf(pieces);
    // Not from the pool, all of which a slice would keep alive.
    this.bytes = Buffer.allocUnsafeSlow(size);
    let at = 0;
    for (const piece of pieces) at += piece.copy(this.bytes, at);
    this.#count = count;
    this.#mayGrow = mayGrow;
    this.#size = size + segmentOverhead;
    count(this.#size);
    // An exchange frees its body when it is over: these bytes are not its own.
    lendBytes([this.bytes]);
  }

  /** Bytes of memory that it takes, with its outline. */
  get size(): number {
    return this.#size;
  }

  /** Made for the first turn that continues them: a conversation is looked through once, not in each of its turns, where there is room. */
  get outline(): ItemsOutline | undefined {
    if (this.#hasNone || this.#outline !== undefined) return this.#outline;
    const outline = this.bytes.length < shortSegment ? undefined : outlineOfItems(this.bytes);
    this.#hasNone = outline === undefined || outline.size > this.bytes.length / 2;
    if (outline === undefined || this.#hasNone) return undefined;
    if (this.#mayGrow(this, outline.size)) this.#grow(outline);
    return outline;
  }

  /** What comes next has more use for the room. */
  dropOutline(): void {
    if (this.#outline !== undefined) this.#grow(undefined);
  }

  #grow(outline: ItemsOutline | undefined): void {
    const change = (outline?.size ?? 0) - (this.#outline?.size ?? 0);
    this.#outline = outline;
    this.#size += change;
    this.#count(change);
  }

  /** True if it has exactly this many holders. */
  isHeldOnlyBy(holders: number): boolean {
    return this.#holders === holders;
  }

  hold(): this {
    this.#holders++;
    return this;
  }

  letGo(): void {
    if (--this.#holders > 0) return;
    reclaimBytes([this.bytes]);
    freeBytes([this.bytes]);
    this.#count(-this.#size);
  }
}

/** A response that can be continued: its whole conversation, its own output included. */
export interface Kept {
  readonly id: string;
  readonly account: string;
  readonly segments: readonly KeptItems[];
  /** True once it was evicted. */
  isGone: boolean;
}

interface KeptLimits {
  readonly total: number; // bytes
  readonly account: number; // bytes
}

/**
 * The conversations of all sockets. What was used longest ago goes first: its client sends the whole conversation again.
 * `mayKeep` tells whether the process has room.
 */
export class KeptConversations implements Reclaimable {
  readonly maxBytes: number;
  readonly #limits: KeptLimits;
  readonly #mayKeep: (bytes: number) => boolean;
  /** In the order of their last use. */
  readonly #all = new Set<Kept>();
  readonly #accounts = new Map<string, number>(); // bytes
  #held = 0;

  constructor(limits: KeptLimits, mayKeep: (bytes: number) => boolean) {
    this.#limits = limits;
    this.maxBytes = limits.total;
    this.#mayKeep = mayKeep;
  }

  get held(): number {
    return this.#held;
  }

  get size(): number {
    return this.#all.size;
  }

  /**
   * Keeps what a response has made of the conversation that it continues.
   *
   * @param before segments of that conversation, which the caller holds
   * @param added items behind them
   * @returns undefined when there is no room
   */
  keep(account: string, id: string, before: readonly KeptItems[], added: readonly Buffer[]): Kept | undefined {
    const last = before.at(-1);
    const isJoined = last !== undefined && last.bytes.length <= shortSegment;
    const shared = isJoined ? before.slice(0, -1) : before;
    const own = isJoined ? [last.bytes, ...added] : added;
    const size = sizeOf(own) + overhead + segmentOverhead;
    const whole = () => shared.reduce((sum, segment) => sum + segment.size, size);
    const most = Math.min(this.#limits.account, this.#limits.total);
    if (whole() > most) for (const segment of shared) segment.dropOutline();
    if (whole() > most) return undefined;
    this.#makeRoom(account, size);
    if (!this.#mayKeep(size)) return undefined;
    const segment = new KeptItems(
      own,
      (bytes) => this.#count(account, bytes),
      (items, bytes) => this.#mayGrow(account, items, bytes),
    );
    this.#count(account, overhead);
    const kept: Kept = { id, account, segments: [...shared, segment].map((one) => one.hold()), isGone: false };
    this.#all.add(kept);
    return kept;
  }

  /** It is in use: others go before it. */
  touch(kept: Kept): void {
    if (this.#all.delete(kept)) this.#all.add(kept);
  }

  drop(kept: Kept): void {
    if (!this.#all.delete(kept)) return;
    kept.isGone = true;
    this.#count(kept.account, -overhead);
    for (const segment of kept.segments) segment.letGo();
  }

  giveBack(bytes: number): void {
    this.#evict(bytes);
  }

  #makeRoom(account: string, size: number): void {
    this.#evict(this.#heldBy(account) + size - this.#limits.account, account);
    this.#evict(this.#held + size - this.#limits.total);
    if (!this.#mayKeep(size)) this.#evict(size);
  }

  /**
   * Whether there is room for the outline of a segment. Other conversations of its account go for it, but none that the segment is part of,
   * and none when all of them are not enough.
   */
  #mayGrow(account: string, segment: KeptItems, bytes: number): boolean {
    if (!this.#mayKeep(bytes)) return false;
    const { account: mostOfAccount, total } = this.#limits;
    let excess = Math.max(this.#heldBy(account) - mostOfAccount, this.#held - total) + bytes;
    const dropped: Kept[] = [];
    const letGo = new Map<KeptItems, number>(); // how often
    for (const kept of this.#all) {
      if (excess <= 0) break;
      if (kept.account !== account || kept.segments.includes(segment)) continue;
      dropped.push(kept);
      excess -= overhead;
      for (const one of kept.segments) {
        const times = (letGo.get(one) ?? 0) + 1;
        letGo.set(one, times);
        if (one.isHeldOnlyBy(times)) excess -= one.size;
      }
    }
    if (excess > 0) return false;
    for (const kept of dropped) this.drop(kept);
    return true;
  }

  /** Drops conversations, of this account or of all, until so many bytes are free. */
  #evict(bytes: number, account?: string): void {
    const goal = this.#heldBy(account) - bytes;
    for (const kept of this.#all) {
      if (this.#heldBy(account) <= goal) return;
      if (account === undefined || kept.account === account) this.drop(kept);
    }
  }

  #heldBy(account: string | undefined): number {
    return account === undefined ? this.#held : (this.#accounts.get(account) ?? 0);
  }

  #count(account: string, bytes: number): void {
    this.#held += bytes;
    const own = this.#heldBy(account) + bytes;
    if (own > 0) this.#accounts.set(account, own);
    else this.#accounts.delete(account);
  }
}
