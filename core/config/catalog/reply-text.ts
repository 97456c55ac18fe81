import type { JsonObject } from '#core/platform/json.ts';

/** Source of an answer's mapped text, block by block. A block is one text: one choice, one content block. */
export interface TextBlocks {
  /** Takes the next piece of a block. Returns the text for the client, which is shorter if a part is held back. */
  push(block: string, text: string): string;
  /** Ends the block and returns the buffered text. */
  end(block: string): string;
  /** The whole text of a block that the client has received. */
  total(block: string): string;
}

/** An event whose data is an object. */
export interface ObjectEvent {
  readonly name: string | undefined;
  readonly data: JsonObject;
}

/** Complete entries of a streamed array, with the text before and after them. */
export interface EntryPiece {
  readonly before: string;
  readonly entries: readonly JsonObject[];
  readonly after: string;
}

/** Splits a stream into entries, independently of its chunk boundaries. */
export interface EntryFramer {
  /** @throws GatewayError if an entry is larger than `bounds.event` */
  push(chunk: string): EntryPiece;
}

/**
 * Locates the text of replies in a wire format: the model's text for the user, refusals included, but not reasoning, which may be
 * signed, or tool calls. Provided by the format, so that stages can change text in any format.
 */
export interface ReplyText {
  /** Maps every text of a whole reply, in place. */
  mapReply(reply: JsonObject, blocks: TextBlocks): void;
  /**
   * Begins a streamed reply. The returned function takes the events in order, may change their data in place, and returns the
   * client's events for each; undefined leaves an event unchanged.
   */
  mapEvents(blocks: TextBlocks): (event: ObjectEvent) => readonly ObjectEvent[] | undefined;
  /** Reads the events of a format that also streams without SSE, as the entries of one JSON array. */
  frameArray?(): EntryFramer;
}
