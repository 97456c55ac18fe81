import { bounds } from '../bounds.ts';
import { type EventFramer, readableOf, StreamEvent } from './event-framer.ts';

const LF = 0x0a;
const none: readonly StreamEvent[] = [];

/** Splits a stream of JSON values, one a line, into events without names. Source: ndjson-spec, version 1.0. */
export class NdjsonFramer implements EventFramer {
  /** The beginning of a line whose end has not come yet. */
  #pending: Buffer[] = [];
  #size = 0;
  #hasExcess = false;

  get isOverfull(): boolean {
    return this.#size > bounds.event || this.#hasExcess;
  }

  push(chunk: Buffer): readonly StreamEvent[] {
    const end = chunk.lastIndexOf(LF) + 1;
    const rest = end === 0 ? chunk : chunk.subarray(end);
    if (end === 0) {
      this.#keep(rest);
      return none;
    }
    const lines = Buffer.concat([...this.#pending, chunk.subarray(0, end)]);
    this.#pending = [];
    this.#size = 0;
    if (rest.length > 0) this.#keep(rest);
    return this.#split(lines);
  }

  end(): readonly StreamEvent[] {
    if (this.#size === 0) return none;
    const last = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#size = 0;
    return this.#split(last);
  }

  #split(bytes: Buffer): readonly StreamEvent[] {
    if (this.#hasExcess) return none;
    const events = split(bytes);
    const readable = readableOf(events);
    this.#hasExcess = readable.length < events.length;
    return readable;
  }

  #keep(bytes: Buffer): void {
    this.#pending.push(bytes);
    this.#size += bytes.length;
  }
}

function split(bytes: Buffer): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  for (let begin = 0, end = 0; begin < bytes.length; begin = end) {
    const lineFeed = bytes.indexOf(LF, begin);
    end = lineFeed === -1 ? bytes.length : lineFeed + 1;
    const text = bytes.toString('utf8', begin, end);
    const data = text.trim();
    events.push(new StreamEvent({ name: undefined, data: data === '' ? undefined : data }, text, bytes, begin, end));
  }
  return events;
}
