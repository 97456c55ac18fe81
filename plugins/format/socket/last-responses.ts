import type { KeptConversation, KeptConversations } from './kept-conversations.ts';

/** For each lane of a socket, the last response, which the next request can continue. */
export class LastResponses {
  readonly #conversations: KeptConversations;
  readonly #conversationsByLane = new Map<string, KeptConversation>();

  constructor(conversations: KeptConversations) {
    this.#conversations = conversations;
  }

  /** @param conversation undefined if there was no room for the response, in which case the lane cannot be continued */
  replace(lane: string, conversation: KeptConversation | undefined): void {
    const lastConversation = this.#conversationsByLane.get(lane);
    if (lastConversation !== undefined) this.#conversations.drop(lastConversation);
    if (conversation === undefined) this.#conversationsByLane.delete(lane);
    else this.#conversationsByLane.set(lane, conversation);
  }

  /** Drops a response if it is this lane's last one. */
  forget(lane: string, id: string | undefined): void {
    if (id !== undefined && this.#conversationsByLane.get(lane)?.id === id) this.replace(lane, undefined);
  }

  find(id: string | undefined): KeptConversation | undefined {
    if (id === undefined) return undefined;
    for (const conversation of this.#conversationsByLane.values()) {
      if (conversation.id !== id || conversation.isEvicted) continue;
      this.#conversations.touch(conversation);
      return conversation;
    }
    return undefined;
  }

  clear(): void {
    for (const lane of this.#conversationsByLane.keys()) this.replace(lane, undefined);
  }
}
