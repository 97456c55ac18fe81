import type { Kept, KeptConversations } from './kept.ts';

/** The last response of each lane of a socket, which the next requests can continue. */
export class LastResponses {
  readonly #conversations: KeptConversations;
  readonly #byLane = new Map<string, Kept>();

  constructor(conversations: KeptConversations) {
    this.#conversations = conversations;
  }

  /** @param next undefined if there is no room for the response: the lane can then not be continued */
  replace(lane: string, next: Kept | undefined): void {
    const last = this.#byLane.get(lane);
    if (last !== undefined) this.#conversations.drop(last);
    if (next === undefined) this.#byLane.delete(lane);
    else this.#byLane.set(lane, next);
  }

  /** Drops a response if it is the last one of this lane. */
  forget(lane: string, id: string | undefined): void {
    if (id !== undefined && this.#byLane.get(lane)?.id === id) this.replace(lane, undefined);
  }

  find(id: string | undefined): Kept | undefined {
    if (id === undefined) return undefined;
    for (const kept of this.#byLane.values()) {
      if (kept.id !== id || kept.isGone) continue;
      this.#conversations.touch(kept);
      return kept;
    }
    return undefined;
  }

  clear(): void {
    for (const lane of this.#byLane.keys()) this.replace(lane, undefined);
  }
}
