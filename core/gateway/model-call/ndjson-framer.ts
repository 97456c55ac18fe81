import { bounds } from '#core/platform/bounds.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { type EventFramer, takeReadable, StreamEvent } from './event-framer.ts';

const LF = 0x0a;
const noEvents: readonly StreamEvent[] = [];

/** Splits a stream of JSON values, one per line, into events without names. Source: ndjson-spec 1.0. */
export class NdjsonFramer implements EventFramer {
  readonly #pending = new CollectedBytes();
  #hasExcess = false;

  get isOverLimit(): boolean {
    return this.#pending.size > bounds.event || this.#hasExcess;
  }

  push(chunk: Buffer): readonly StreamEvent[] {
    const end = chunk.lastIndexOf(LF) + 1;
    if (end > 0) this.#pending.add(chunk.subarray(0, end));
    const lines = end > 0 ? this.#pending.take() : undefined;
    if (end < chunk.length) this.#pending.add(chunk.subarray(end));
    return lines === undefined ? noEvents : this.#readEvents(lines);
  }

  end(): readonly StreamEvent[] {
    return this.#pending.size === 0 ? noEvents : this.#readEvents(this.#pending.take());
  }

  #readEvents(bytes: Buffer): readonly StreamEvent[] {
    if (this.#hasExcess) return noEvents;
    const events = splitLines(bytes);
    const readableEvents = takeReadable(events);
    this.#hasExcess = readableEvents.length < events.length;
    return readableEvents;
  }
}

function splitLines(bytes: Buffer): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  for (let start = 0, end = 0; start < bytes.length; start = end) {
    const lineFeed = bytes.indexOf(LF, start);
    end = lineFeed === -1 ? bytes.length : lineFeed + 1;
    const text = bytes.toString('utf8', start, end);
    const data = text.trim();
    events.push(new StreamEvent({ name: undefined, data: data === '' ? undefined : data }, text, bytes, start, end));
  }
  return events;
}
