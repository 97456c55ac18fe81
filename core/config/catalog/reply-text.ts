import type { JsonObject } from '#core/platform/json.ts';

/** Maps a reply's text, block by block. A block is one continuous text: a choice, or a content block. */
export interface TextBlocks {
  /** Maps the next piece of a block. Returns text for the client; it is shorter if part of it is held back. */
  push(block: string, text: string): string;
  /** Ends the block and returns the text that was held back. */
  end(block: string): string;
  /** Returns all text of a block that has been sent to the client. */
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

/** Splits a stream into entries, wherever its chunks end. */
export interface EntryFramer {
  /** @throws GatewayError if an entry is larger than `bounds.event` */
  push(chunk: string): EntryPiece;
}

/**
 * Locates the text in replies of a wire format, so that stages can change text in any format. Text is what the model says to the user,
 * including refusals. Reasoning (which may be signed) and tool calls do not count.
 */
export interface ReplyText {
  /** Maps every text in a non-streaming reply, in place. */
  mapReply(reply: JsonObject, blocks: TextBlocks): void;
  /**
   * Starts a streamed reply.
   *
   * @returns a function to call with the events in order. It may change their data in place. It returns the events for the client, or
   *   undefined to leave the event unchanged
   */
  mapEvents(blocks: TextBlocks): (event: ObjectEvent) => readonly ObjectEvent[] | undefined;
  /** Creates a framer, for a format that can also stream its events as the entries of a JSON array, without SSE. */
  frameArray?(): EntryFramer;
}
