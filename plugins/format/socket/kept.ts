import { sizeOf } from '#core/platform/memory/collected-bytes.ts';
import type { Reclaimable } from '#core/platform/memory/budget.ts';
import { type ItemsOutline, type OutlinedItems, outlineOfItems } from '#core/platform/json-outline/outline.ts';
import { freeBytes, lendBytes, reclaimBytes } from '#core/platform/memory/freed-bytes.ts';

const overhead = 1_024; // bytes of a conversation without its segments, and of a segment without its items
const segmentOverhead = 896;

/** Bytes up to which a segment is copied into the next one: a conversation of many short turns has few segments. */
const shortSegment = 8_192;

/** Items of a conversation as JSON text, each followed by a comma. Several conversations may share them; the last holder frees them. */
export class KeptItems implements OutlinedItems {
  readonly bytes: Buffer;
  readonly #count: (bytes: number) => void;
  readonly #mayGrow: (segment: KeptItems, bytes: number) => boolean;
  #outline: ItemsOutline | undefined;
  /** True if there is no outline, because the segment is too short or its outline is not useful. */
  #hasNone = false;
  #size: number;
  #holders = 0;

  /**
   * @param pieces bytes to copy: they may be slices of a much larger frame
   * @param count receives the bytes of memory taken or, if negative, freed
   * @param mayGrow returns whether the outline may be kept
   */
  constructor(
    pieces: readonly Buffer[],
    count: (bytes: number) => void,
    mayGrow: (segment: KeptItems, bytes: number) => boolean,
  ) {
    const size = sizeOf(pieces);
    // Not allocated from the pool, because a slice would keep the whole pool alive.
    this.bytes = Buffer.allocUnsafeSlow(size);
    let at = 0;
    for (const piece of pieces) at += piece.copy(this.bytes, at);
    this.#count = count;
    this.#mayGrow = mayGrow;
    this.#size = size + segmentOverhead;
    count(this.#size);
    // The bytes are lent, so that an exchange does not free them together with its body.
    lendBytes([this.bytes]);
  }

  /** Bytes of memory taken, including the outline. */
  get size(): number {
    return this.#size;
  }

  /** Created for the first turn that continues the items, and kept if there is room, so that not every turn scans the conversation. */
  get outline(): ItemsOutline | undefined {
    if (this.#hasNone || this.#outline !== undefined) return this.#outline;
    const outline = this.bytes.length < shortSegment ? undefined : outlineOfItems(this.bytes);
    this.#hasNone = outline === undefined || outline.size > this.bytes.length / 2;
    if (outline === undefined || this.#hasNone) return undefined;
    if (this.#mayGrow(this, outline.size)) this.#grow(outline);
    return outline;
  }

  /** Drops the outline, because the next items need the room more. */
  dropOutline(): void {
    if (this.#outline !== undefined) this.#grow(undefined);
  }

  #grow(outline: ItemsOutline | undefined): void {
    const change = (outline?.size ?? 0) - (this.#outline?.size ?? 0);
    this.#outline = outline;
    this.#size += change;
    this.#count(change);
  }

  /** True if the segment has exactly this many holders. */
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

/** A response that can be continued: its whole conversation, including its own output. */
export interface Kept {
  readonly id: string;
  readonly account: string;
  readonly segments: readonly KeptItems[];
  /** True once the conversation was evicted. */
  isGone: boolean;
}

interface KeptLimits {
  readonly total: number; // bytes
  readonly account: number; // bytes
}

/**
 * The conversations of all sockets. The least recently used conversation is evicted first; its client then sends it again in full.
 * `mayKeep` returns whether the process has room.
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
   * Keeps the conversation of a response, with the items that the response added.
   *
   * @param before segments of the continued conversation, which the caller holds
   * @param added items after these segments
   * @returns undefined if there is no room
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

  /** Marks a conversation as recently used, so that others are evicted first. */
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
   * Whether there is room for the outline of a segment. Evicts other conversations of the account if needed, but no conversation that has
   * this segment, and none at all if evicting all of them would not be enough.
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

  /** Drops conversations, of this account or of all accounts, until this many bytes are freed. */
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
