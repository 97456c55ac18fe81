import type { JsonObject } from '#core/platform/json.ts';

/** Maps the text of a reply, block by block. A block is one text: a choice, or a content block. */
export interface TextBlocks {
  /** Maps the next piece of a block. Returns the text for the client, which is shorter if a part is buffered. */
  push(block: string, text: string): string;
  /** Ends the block and returns the buffered text. */
  end(block: string): string;
  /** Returns all text of a block that was sent to the client. */
  total(block: string): string;
}

/** An event whose data is an object. */
export interface ObjectEvent {
  readonly name: string | undefined;
  readonly data: JsonObject;
}

/** Complete entries of a streamed array, and the text before and after them. */
export interface EntryPiece {
  readonly before: string;
  readonly entries: readonly JsonObject[];
  readonly after: string;
}

/** Splits a stream into entries, regardless of its chunk boundaries. */
export interface EntryFramer {
  /** @throws GatewayError if an entry is larger than `bounds.event` */
  push(chunk: string): EntryPiece;
}

/**
 * Locates the text of replies in a wire format, so that stages can change text in any format. This is the model's text for the user,
 * including refusals. Reasoning, which may be signed, and tool calls are excluded.
 */
export interface ReplyText {
  /** Maps every text of a non-streaming reply, in place. */
  mapReply(reply: JsonObject, blocks: TextBlocks): void;
  /**
   * Starts a streamed reply.
   *
   * @returns a function that is called with the events in order. It may change their data in place, and returns the client's events;
   * undefined leaves the event unchanged
   */
  mapEvents(blocks: TextBlocks): (event: ObjectEvent) => readonly ObjectEvent[] | undefined;
  /** Creates a framer for a format that can also stream its events as the entries of a JSON array, without SSE. */
  frameArray?(): EntryFramer;
}
