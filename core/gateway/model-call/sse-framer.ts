import { bounds } from '#core/platform/bounds.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { type EventFramer, takeReadable, StreamEvent } from './event-framer.ts';

const LF = 0x0a;
const CR = 0x0d;
const colon = 0x3a;
const space = 0x20;
const noEvents: readonly StreamEvent[] = [];
const longEventBytes = 65_536;
const blankLine = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))/g; // lines end with LF, CR LF or CR
const crLineEnds = /\r\n?/g;
const doneMark = /^\s*data: ?\[DONE\]\s*$/; // ends the stream even without the blank line, which some vendors omit
const doneMarkBytes = { min: 'data:[DONE]'.length, max: 'data: [DONE]\r\n'.length };

/**
 * Splits a stream of server-sent events. It searches the bytes of a chunk backwards for a blank line, and decodes events only when they
 * are complete, so that the cost stays linear regardless of chunk boundaries.
 *
 * Source: HTML Living Standard, section 9.2.6 "Interpreting an event stream".
 */
export class SseFramer implements EventFramer {
  readonly #pending = new CollectedBytes();
  #hasStarted = false;
  #hasExcess = false;
  #endsWithCr = false; // an LF at the start of the next chunk then belongs to the last event
  #lastHead = createHead(); // the next event usually starts with the same text

  get isOverLimit(): boolean {
    return this.#pending.size > bounds.event || this.#hasExcess;
  }

  push(chunk: Buffer): readonly StreamEvent[] {
    if (this.#endsWithCr && chunk.length > 0) return this.#pushAfterCr(chunk);
    const end = findLastEventEnd(chunk, this.#pending.lastBytes(3));
    if (end === 0) {
      this.#pending.add(chunk);
      return this.#isDoneMarkPending() ? this.end() : noEvents;
    }
    const head = end === chunk.length ? chunk : chunk.subarray(0, end);
    const eventBytes = this.#pending.size === 0 ? head : this.#joinPending(head);
    if (end < chunk.length) this.#pending.add(chunk.subarray(end));
    else this.#endsWithCr = chunk[end - 1] === CR;
    const completeEvents = this.#readEvents(this.#removeByteOrderMark(eventBytes));
    return this.#isDoneMarkPending() ? [...completeEvents, ...this.end()] : completeEvents;
  }

  #joinPending(head: Buffer): Buffer {
    this.#pending.add(head);
    return this.#pending.take();
  }

  end(): readonly StreamEvent[] {
    if (this.#pending.size === 0) return noEvents;
    return this.#readEvents(this.#removeByteOrderMark(this.#pending.take()));
  }

  #readEvents(bytes: Buffer): readonly StreamEvent[] {
    if (this.#hasExcess) return noEvents;
    const events = this.#splitEvents(bytes);
    const readableEvents = takeReadable(events);
    this.#hasExcess = readableEvents.length < events.length;
    return readableEvents;
  }

  #splitEvents(bytes: Buffer): readonly StreamEvent[] {
    const text = bytes.toString();
    const searchText = text.length === bytes.length ? text : toSearchable(bytes);
    const hasCr = typeof searchText === 'string' && searchText.includes('\r');
    const events: StreamEvent[] = [];
    for (let start = 0, end = 0; start < searchText.length; start = end) {
      end = hasCr ? findBlankLineEnd(searchText, start) : findBlankLineEndWithoutCr(searchText, start);
      let eventText = text;
      if (end - start < searchText.length)
        eventText = searchText === text ? text.slice(start, end) : bytes.toString('utf8', start, end);
      const fields = hasCr ? parseFields(eventText.replaceAll(crLineEnds, '\n')) : this.#readFields(eventText);
      events.push(new StreamEvent(fields, eventText, bytes, start, end));
    }
    return events;
  }

  #readFields(event: string): EventFields {
    const { text, name } = this.#lastHead;
    const end = event.length - 2;
    // Fast path: only one line of data differs from the last event.
    const isOneLine = event.slice(0, text.length) === text && event.indexOf('\n', text.length) === end;
    if (isOneLine && event.charCodeAt(end + 1) === LF) return { name, data: event.slice(text.length, end) };
    const fields = parseFields(event);
    if (fields.name !== name) this.#lastHead = createHead(fields.name);
    return fields;
  }

  #pushAfterCr(chunk: Buffer): readonly StreamEvent[] {
    this.#endsWithCr = false;
    return chunk[0] === LF
      ? [...this.#splitEvents(chunk.subarray(0, 1)), ...this.push(chunk.subarray(1))]
      : this.push(chunk);
  }

  #isDoneMarkPending(): boolean {
    const { size } = this.#pending;
    if (size < doneMarkBytes.min || size > doneMarkBytes.max) return false;
    return doneMark.test(this.#pending.join().toString('latin1'));
  }

  #removeByteOrderMark(bytes: Buffer): Buffer {
    if (this.#hasStarted) return bytes;
    this.#hasStarted = true;
    return stripByteOrderMark(bytes);
  }
}

interface EventHead {
  readonly text: string;
  readonly name: string | undefined;
}

function createHead(name?: string): EventHead {
  return { name, text: name === undefined ? 'data: ' : `event: ${name}\ndata: ` };
}

/** Returns the index in `chunk` after its last blank line, which may have started in `tail`; 0 if there is none. */
function findLastEventEnd(chunk: Buffer, tail: Buffer): number {
  // Most chunks end with an event.
  if (chunk.length > 1 && chunk[chunk.length - 1] === LF && chunk[chunk.length - 2] === LF) return chunk.length;
  let lf = findLastIndexBefore(chunk, LF, chunk.length);
  let cr = findLastIndexBefore(chunk, CR, chunk.length);
  while (lf !== -1 || cr !== -1) {
    const end = Math.max(lf, cr) + 1;
    if (endsBlankLine(chunk, end, tail)) return end;
    if (lf > cr) lf = findLastIndexBefore(chunk, LF, lf);
    else cr = findLastIndexBefore(chunk, CR, cr);
  }
  return 0;
}

function findLastIndexBefore(chunk: Buffer, byte: number, end: number): number {
  return end > 0 ? chunk.lastIndexOf(byte, end - 1) : -1;
}

function endsBlankLine(chunk: Buffer, end: number, tail: Buffer): boolean {
  const byteAt = (index: number) => (index >= 0 ? chunk[index] : tail[tail.length + index]);
  const isCrLf = byteAt(end - 1) === LF && byteAt(end - 2) === CR;
  const previousByte = byteAt(end - (isCrLf ? 3 : 2));
  return previousByte === LF || previousByte === CR;
}

/** Indexes in the result are byte offsets. Long events stay buffers, because copying takes longer than the search. */
function toSearchable(bytes: Buffer): string | Buffer {
  return bytes.length > longEventBytes && !bytes.includes(CR) ? bytes : bytes.toString('latin1');
}

function findBlankLineEndWithoutCr(text: string | Buffer, start: number): number {
  const index = text.indexOf('\n\n', start);
  return index === -1 ? text.length : index + 2;
}

function findBlankLineEnd(text: string, start: number): number {
  blankLine.lastIndex = start;
  return blankLine.test(text) ? blankLine.lastIndex : text.length;
}

type EventFields = Pick<StreamEvent, 'name' | 'data'>;

function parseFields(lines: string): EventFields {
  let name: string | undefined;
  let data: string | undefined;
  // Joined at the end, because reading a text that was appended line by line takes twice as long.
  let dataLines: string[] | undefined;
  for (let start = 0, end = 0; start < lines.length; start = end + 1) {
    end = lines.indexOf('\n', start);
    if (end === -1) end = lines.length;
    const value = readField(lines, 'data', start, end);
    if (value === undefined) name = readField(lines, 'event', start, end) ?? name;
    else if (data === undefined) data = value;
    else (dataLines ??= [data]).push(value);
  }
  return { name: name === '' ? undefined : name, data: dataLines?.join('\n') ?? data };
}

function readField(lines: string, field: string, start: number, end: number): string | undefined {
  if (!lines.startsWith(field, start)) return undefined;
  const nameEnd = start + field.length;
  if (nameEnd === end) return '';
  if (lines.charCodeAt(nameEnd) !== colon) return undefined;
  return lines.slice(lines.charCodeAt(nameEnd + 1) === space ? nameEnd + 2 : nameEnd + 1, end);
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Removes the byte order mark that some servers send, although JSON must not have one (RFC 8259 §8.1). */
export function stripByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes;
}
