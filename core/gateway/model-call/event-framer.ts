import { bounds } from '#core/platform/bounds.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import { findExcess } from '#core/platform/json-measure.ts';

/** Characters of data from which parsing once is faster than searching twice. */
const parsedLength = 65_536;

/** Pieces of an answer: text, reasoning, and the arguments of a call. */
export interface SaidPiece {
  readonly text: string;
  readonly reasoning: string;
  readonly input?: { readonly key: string | number; readonly text: string };
}

/** One event of a streamed reply. */
export class StreamEvent {
  /** The `event:` field; undefined when there is none. */
  readonly name: string | undefined;
  /** Undefined when the event has no data, such as a comment that keeps the connection alive. */
  readonly data: string | undefined;
  /** The event as it came, its terminator included. */
  readonly text: string;
  /** The event's piece of the answer, if it is known to hold nothing else. Skimming decoders take it instead of reading the event. */
  said: SaidPiece | undefined;
  /** True once it is known to differ from an earlier event of the stream in a piece of the answer only. */
  isPlain = false;
  readonly #bytes: Buffer;
  readonly #begin: number;
  readonly #end: number;
  #object: JsonObject | undefined | null = null;

  /** @param bytes hold the event from `begin` to `end` */
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

  /** True for an event that is long, such as an image: readers parse it instead of searching it. */
  get isLong(): boolean {
    return this.data !== undefined && this.data.length > parsedLength;
  }

  /** The bytes of `text`, exactly as they came. */
  get raw(): Buffer {
    const isAll = this.#begin === 0 && this.#end === this.#bytes.length;
    return isAll ? this.#bytes : this.#bytes.subarray(this.#begin, this.#end);
  }

  /** The object in `data`, parsed on the first call; undefined when `data` is not one. */
  parse(): JsonObject | undefined {
    if (this.#object === null) this.#object = this.data === undefined ? undefined : parseObject(this.data);
    return this.#object;
  }
}

/** The events before the first that would take too long to parse. */
export function readableOf(events: readonly StreamEvent[]): readonly StreamEvent[] {
  const at = events.findIndex(({ data = '' }) => findExcess(data, bounds.eventValues) !== undefined);
  return at === -1 ? events : events.slice(0, at);
}

/**
 * Splits a stream of bytes into events, wherever its chunks are cut. The `raw` bytes of all events, one after the other,
 * are the bytes of the stream (without a byte order mark).
 */
export interface EventFramer {
  /** Takes the next bytes and returns the events that they complete. */
  push(chunk: Buffer): readonly StreamEvent[];
  /** The stream has ended: returns the last event if its terminator is missing. */
  end(): readonly StreamEvent[];
  /** True when an event is larger than `bounds.event`, or has more in it than can be parsed; none is returned from there on. */
  readonly isOverfull: boolean;
}
