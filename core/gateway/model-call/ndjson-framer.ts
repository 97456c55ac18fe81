import { bounds } from '#core/platform/bounds.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { type EventFramer, readableOf, StreamEvent } from './event-framer.ts';

const LF = 0x0a;
const none: readonly StreamEvent[] = [];

/** Splits a stream of JSON values, one per line, into events without names. Source: ndjson-spec, version 1.0. */
export class NdjsonFramer implements EventFramer {
  readonly #pending = new CollectedBytes();
  #hasExcess = false;

  get isOverfull(): boolean {
    return this.#pending.size > bounds.event || this.#hasExcess;
  }

  push(chunk: Buffer): readonly StreamEvent[] {
    const end = chunk.lastIndexOf(LF) + 1;
    if (end > 0) this.#pending.add(chunk.subarray(0, end));
    const lines = end > 0 ? this.#pending.take() : undefined;
    if (end < chunk.length) this.#pending.add(chunk.subarray(end));
    return lines === undefined ? none : this.#split(lines);
  }

  end(): readonly StreamEvent[] {
    return this.#pending.size === 0 ? none : this.#split(this.#pending.take());
  }

  #split(bytes: Buffer): readonly StreamEvent[] {
    if (this.#hasExcess) return none;
    const events = split(bytes);
    const readable = readableOf(events);
    this.#hasExcess = readable.length < events.length;
    return readable;
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
