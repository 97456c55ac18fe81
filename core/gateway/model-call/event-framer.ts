import { bounds } from '#core/platform/bounds.ts';
import { findExcess } from '#core/platform/json-measure.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';

const longDataLength = 65_536;

/** New content in an event: text, reasoning, or arguments of a tool call. */
export interface ContentDelta {
  readonly text: string;
  readonly reasoning: string;
  readonly input?: { readonly key: string | number; readonly text: string };
}

/** One event of a streaming reply. */
export class StreamEvent {
  readonly name: string | undefined; // of the `event:` field
  readonly data: string | undefined; // undefined if the event has none, as in a keep-alive comment
  readonly text: string; // as received, with the terminator
  /** The event's new content, if it is known to contain nothing else. Fast-path decoders use it instead of parsing the event. */
  contentDelta: ContentDelta | undefined;
  /** True if the event is known to differ from an earlier event of the stream only in its new content. */
  isPlain = false;
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;
  #object: JsonObject | undefined | null = null; // null before the first `parse`

  /** @param bytes buffer that contains the event from `start` to `end` */
  constructor(
    fields: Pick<StreamEvent, 'name' | 'data'>,
    text: string,
    bytes: Buffer,
    start = 0,
    end: number = bytes.length,
  ) {
    this.name = fields.name;
    this.data = fields.data;
    this.text = text;
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
  }

  /** True for a long event, such as an image, which is cheaper to parse than to search. */
  get isLong(): boolean {
    return this.data !== undefined && this.data.length > longDataLength;
  }

  /** The bytes of `text`, exactly as received. */
  get raw(): Buffer {
    const isWholeBuffer = this.#start === 0 && this.#end === this.#bytes.length;
    return isWholeBuffer ? this.#bytes : this.#bytes.subarray(this.#start, this.#end);
  }

  get isParsed(): boolean {
    return this.#object !== null;
  }

  /** Returns the object in `data`, parsed on the first call; undefined if `data` is not an object. */
  parse(): JsonObject | undefined {
    if (this.#object === null) this.#object = this.data === undefined ? undefined : parseObject(this.data);
    return this.#object;
  }
}

/** Returns the events before the first event that would take too long to parse. */
export function takeReadable(events: readonly StreamEvent[]): readonly StreamEvent[] {
  const index = events.findIndex(({ data = '' }) => findExcess(data, bounds.eventValues) !== undefined);
  return index === -1 ? events : events.slice(0, index);
}

/**
 * Splits a stream of bytes into events, regardless of chunk boundaries. The concatenated `raw` bytes of all events are the bytes of the
 * stream, without a byte order mark.
 */
export interface EventFramer {
  /** Reads the next bytes, and returns the events that they complete. */
  push(chunk: Buffer): readonly StreamEvent[];
  /** Ends the stream, and returns the last event if its terminator is missing. */
  end(): readonly StreamEvent[];
  /** True if an event is larger than `bounds.event`, or has too many values to parse. No further events are returned. */
  readonly isOverLimit: boolean;
}
