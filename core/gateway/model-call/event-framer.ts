import { bounds } from '#core/platform/bounds.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import { findExcess } from '#core/platform/json-measure.ts';

/** Length of data above which parsing once is faster than searching twice. */
const parsedLength = 65_536;

/** Piece of an answer: text, reasoning, or arguments of a call. */
export interface SaidPiece {
  readonly text: string;
  readonly reasoning: string;
  readonly input?: { readonly key: string | number; readonly text: string };
}

/** One event of a streamed reply. */
export class StreamEvent {
  /** The `event:` field, if any. */
  readonly name: string | undefined;
  /** Undefined if the event has no data, such as a keep-alive comment. */
  readonly data: string | undefined;
  /** The event as received, including its terminator. */
  readonly text: string;
  /** The event's piece of the answer, if it is known to contain nothing else. Fast-path decoders use it instead of reading the event. */
  said: SaidPiece | undefined;
  /** True once it is known to differ from an earlier event of the stream only in a piece of the answer. */
  isPlain = false;
  readonly #bytes: Buffer;
  readonly #begin: number;
  readonly #end: number;
  #object: JsonObject | undefined | null = null;

  /** @param bytes contain the event from `begin` to `end` */
  constructor(
    fields: Pick<StreamEvent, 'name' | 'data'>,
    text: string,
    bytes: Buffer,
    begin = 0,
    end: number = bytes.length,
  ) {
    this.name = fields.name;
    this.data = fields.data;
    this.text = text;
    this.#bytes = bytes;
    this.#begin = begin;
    this.#end = end;
  }

  /** True for a long event, such as an image: readers parse it instead of searching it. */
  get isLong(): boolean {
    return this.data !== undefined && this.data.length > parsedLength;
  }

  /** The bytes of `text`, exactly as received. */
  get raw(): Buffer {
    const isAll = this.#begin === 0 && this.#end === this.#bytes.length;
    return isAll ? this.#bytes : this.#bytes.subarray(this.#begin, this.#end);
  }

  /** The object in `data`, parsed on the first call; undefined if `data` is not an object. */
  parse(): JsonObject | undefined {
    if (this.#object === null) this.#object = this.data === undefined ? undefined : parseObject(this.data);
    return this.#object;
  }
}

/** Returns the events before the first one that would take too long to parse. */
export function readableOf(events: readonly StreamEvent[]): readonly StreamEvent[] {
  const at = events.findIndex(({ data = '' }) => findExcess(data, bounds.eventValues) !== undefined);
  return at === -1 ? events : events.slice(0, at);
}

/**
 * Splits a stream of bytes into events, however it is chunked. The concatenated `raw` bytes of all events are the bytes of the stream
 * (without a byte order mark).
 */
export interface EventFramer {
  /** Reads the next bytes, and returns the events that they complete. */
  push(chunk: Buffer): readonly StreamEvent[];
  /** The stream ended: returns the last event if its terminator is missing. */
  end(): readonly StreamEvent[];
  /** True if an event is larger than `bounds.event`, or has too many values to be parsed; no events are returned from then on. */
  readonly isOverfull: boolean;
}
