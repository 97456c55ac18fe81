import { type ItemsOutline, type OutlinedItems, createItemsOutline } from '#core/platform/json-outline/outline.ts';
import type { Reclaimable } from '#core/platform/memory/budget.ts';
import { sumSizes } from '#core/platform/memory/collected-bytes.ts';
import { freeBytes, lendBytes, reclaimBytes } from '#core/platform/memory/freed-bytes.ts';

const conversationOverheadBytes = 1_024; // memory of a conversation without its segments
const segmentOverheadBytes = 896; // memory of a segment without its items

/** The largest segment that is copied into the next one, so that a conversation of many short turns has few segments. */
const maxCopiedBytes = 8_192;

/** A conversation's items as JSON text, each followed by a comma. Conversations may share a segment, which its last holder frees. */
export class ConversationSegment implements OutlinedItems {
  readonly bytes: Buffer;
  readonly #countBytes: (bytes: number) => void;
  readonly #reserve: (segment: ConversationSegment, bytes: number) => boolean;
  #outline: ItemsOutline | undefined;
  #hasNoOutline = false;
  #size: number;
  #holders = 0;

  /**
   * @param pieces bytes to copy, because they may be slices of a much larger frame
   * @param countBytes receives the number of bytes of memory that were taken or, if negative, freed
   * @param reserve makes room for the outline; returns false if there is none
   */
  constructor(
    pieces: readonly Buffer[],
    countBytes: (bytes: number) => void,
    reserve: (segment: ConversationSegment, bytes: number) => boolean,
  ) {
    const size = sumSizes(pieces);
    // Not taken from the pool, because a slice would keep the whole pool alive.
    this.bytes = Buffer.allocUnsafeSlow(size);
    let offset = 0;
    for (const piece of pieces) offset += piece.copy(this.bytes, offset);
    this.#countBytes = countBytes;
    this.#reserve = reserve;
    this.#size = size + segmentOverheadBytes;
    countBytes(this.#size);
    // Lent, so that an exchange does not free the bytes together with its body.
    lendBytes([this.bytes]);
  }

  /** Bytes of memory that the segment takes, including the outline. */
  get size(): number {
    return this.#size;
  }

  /** Outline of the items, created for the first turn that continues them. Kept if there is room, so that later turns scan nothing. */
  get outline(): ItemsOutline | undefined {
    if (this.#hasNoOutline || this.#outline !== undefined) return this.#outline;
    const outline = this.bytes.length < maxCopiedBytes ? undefined : createItemsOutline(this.bytes);
    this.#hasNoOutline = outline === undefined || outline.size > this.bytes.length / 2;
    if (outline === undefined || this.#hasNoOutline) return undefined;
    if (this.#reserve(this, outline.size)) this.#replaceOutline(outline);
    return outline;
  }

  /** Drops the outline to make room for the next items. */
  dropOutline(): void {
    if (this.#outline !== undefined) this.#replaceOutline(undefined);
  }

  #replaceOutline(outline: ItemsOutline | undefined): void {
    const change = (outline?.size ?? 0) - (this.#outline?.size ?? 0);
    this.#outline = outline;
    this.#size += change;
    this.#countBytes(change);
  }

  hasHolderCount(count: number): boolean {
    return this.#holders === count;
  }

  addHolder(): this {
    this.#holders++;
    return this;
  }

  removeHolder(): void {
    if (--this.#holders > 0) return;
    reclaimBytes([this.bytes]);
    freeBytes([this.bytes]);
    this.#countBytes(-this.#size);
  }
}

/** The conversation up to and including a response that can be continued. */
export interface KeptConversation {
  readonly id: string;
  readonly account: string;
  readonly segments: readonly ConversationSegment[];
  isEvicted: boolean;
}

interface KeptLimits {
  readonly totalBytes: number;
  readonly accountBytes: number;
}

/** Keeps the conversations of all sockets. The least recently used one is evicted first; its client then sends it again in full. */
export class KeptConversations implements Reclaimable {
  readonly maxBytes: number;
  readonly #limits: KeptLimits;
  readonly #mayKeep: (bytes: number) => boolean;
  /** Least recently used first. */
  readonly #conversations = new Set<KeptConversation>();
  readonly #bytesByAccount = new Map<string, number>();
  #heldBytes = 0;

  constructor(limits: KeptLimits, mayKeep: (bytes: number) => boolean) {
    this.#limits = limits;
    this.maxBytes = limits.totalBytes;
    this.#mayKeep = mayKeep;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get size(): number {
    return this.#conversations.size;
  }

  /**
   * Keeps a response's conversation, including the items that the response added.
   *
   * @param previousSegments segments of the continued conversation, which the caller holds
   * @param newItems the items after these segments
   * @returns undefined if there is no room
   */
  keep(
    account: string,
    id: string,
    previousSegments: readonly ConversationSegment[],
    newItems: readonly Buffer[],
  ): KeptConversation | undefined {
    const lastSegment = previousSegments.at(-1);
    const isJoined = lastSegment !== undefined && lastSegment.bytes.length <= maxCopiedBytes;
    const sharedSegments = isJoined ? previousSegments.slice(0, -1) : previousSegments;
    const segmentBytes = isJoined ? [lastSegment.bytes, ...newItems] : newItems;
    const size = sumSizes(segmentBytes) + conversationOverheadBytes + segmentOverheadBytes;
    const measureConversation = () => sharedSegments.reduce((sum, segment) => sum + segment.size, size);
    const maxSize = Math.min(this.#limits.accountBytes, this.#limits.totalBytes);
    if (measureConversation() > maxSize) for (const segment of sharedSegments) segment.dropOutline();
    if (measureConversation() > maxSize) return undefined;
    this.#makeRoom(account, size);
    if (!this.#mayKeep(size)) return undefined;
    const segment = new ConversationSegment(
      segmentBytes,
      (bytes) => this.#countBytes(account, bytes),
      (items, bytes) => this.#reserveOutline(account, items, bytes),
    );
    this.#countBytes(account, conversationOverheadBytes);
    const conversation: KeptConversation = {
      id,
      account,
      segments: [...sharedSegments, segment].map((heldSegment) => heldSegment.addHolder()),
      isEvicted: false,
    };
    this.#conversations.add(conversation);
    return conversation;
  }

  /** Marks a conversation as the most recently used. */
  touch(conversation: KeptConversation): void {
    if (this.#conversations.delete(conversation)) this.#conversations.add(conversation);
  }

  drop(conversation: KeptConversation): void {
    if (!this.#conversations.delete(conversation)) return;
    conversation.isEvicted = true;
    this.#countBytes(conversation.account, -conversationOverheadBytes);
    for (const segment of conversation.segments) segment.removeHolder();
  }

  free(bytes: number): void {
    this.#evict(bytes);
  }

  #makeRoom(account: string, size: number): void {
    this.#evict(this.#getHeldBytes(account) + size - this.#limits.accountBytes, account);
    this.#evict(this.#heldBytes + size - this.#limits.totalBytes);
    if (!this.#mayKeep(size)) this.#evict(size);
  }

  /**
   * Makes room for a segment's outline, evicting other conversations of the account if needed, but none that contain this segment. If
   * evicting all others would not be enough, evicts none and returns false.
   */
  #reserveOutline(account: string, segment: ConversationSegment, bytes: number): boolean {
    if (!this.#mayKeep(bytes)) return false;
    const { accountBytes, totalBytes } = this.#limits;
    let excess = Math.max(this.#getHeldBytes(account) - accountBytes, this.#heldBytes - totalBytes) + bytes;
    const candidates: KeptConversation[] = [];
    const releaseCounts = new Map<ConversationSegment, number>();
    for (const conversation of this.#conversations) {
      if (excess <= 0) break;
      if (conversation.account !== account || conversation.segments.includes(segment)) continue;
      candidates.push(conversation);
      excess -= conversationOverheadBytes;
      for (const heldSegment of conversation.segments) {
        const releases = (releaseCounts.get(heldSegment) ?? 0) + 1;
        releaseCounts.set(heldSegment, releases);
        if (heldSegment.hasHolderCount(releases)) excess -= heldSegment.size;
      }
    }
    if (excess > 0) return false;
    for (const conversation of candidates) this.drop(conversation);
    return true;
  }

  #evict(bytesToFree: number, account?: string): void {
    const targetBytes = this.#getHeldBytes(account) - bytesToFree;
    for (const conversation of this.#conversations) {
      if (this.#getHeldBytes(account) <= targetBytes) return;
      if (account === undefined || conversation.account === account) this.drop(conversation);
    }
  }

  #getHeldBytes(account: string | undefined): number {
    return account === undefined ? this.#heldBytes : (this.#bytesByAccount.get(account) ?? 0);
  }

  #countBytes(account: string, bytes: number): void {
    this.#heldBytes += bytes;
    const accountBytes = this.#getHeldBytes(account) + bytes;
    if (accountBytes > 0) this.#bytesByAccount.set(account, accountBytes);
    else this.#bytesByAccount.delete(account);
  }
}
