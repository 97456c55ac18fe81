import { bounds } from '#core/platform/bounds.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { type EventFramer, readableOf, StreamEvent } from './event-framer.ts';

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const none: readonly StreamEvent[] = [];
const longEventBytes = 65_536;
/** A line end followed by an empty line, in any of the three spellings. */
const blankLine = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))/g;
const otherLineEnds = /\r\n?/g;
/** End mark of OpenAI's streams, which some vendors send without a blank line: nothing can follow it. */
const endMark = /^\s*data: ?\[DONE\]\s*$/;
const endMarkBytes = { least: 'data:[DONE]'.length, most: 'data: [DONE]\r\n'.length };

/**
 * Splits a stream of server-sent events. A chunk is searched for blank lines on its bytes, from its end, and decoded once
 * its events are complete, so that the cost stays linear however the stream is cut.
 *
 * Source: HTML Living Standard, section 9.2.6 "Interpreting an event stream".
 */
export class SseFramer implements EventFramer {
  readonly #pending = new CollectedBytes();
  #hasBegun = false;
  #hasExcess = false;
  /** The last event ended with a CR; an LF at the start of the next chunk belongs to it. */
  #endedWithCr = false;
  /** Up to the data of the last event, which the next one repeats as a rule. */
  #head = headOf();

  get isOverfull(): boolean {
    return this.#pending.size > bounds.event || this.#hasExcess;
  }

  push(chunk: Buffer): readonly StreamEvent[] {
    if (this.#endedWithCr && chunk.length > 0) return this.#pushAfterCr(chunk);
    const end = endOfLastEvent(chunk, this.#pending.last(3));
    if (end === 0) {
      this.#pending.add(chunk);
      return this.#hasEndMark() ? this.end() : none;
    }
    const head = end === chunk.length ? chunk : chunk.subarray(0, end);
    const events = this.#pending.size === 0 ? head : this.#complete(head);
    if (end < chunk.length) this.#pending.add(chunk.subarray(end));
    else this.#endedWithCr = chunk[end - 1] === CR;
    const complete = this.#split(this.#withoutMark(events));
    return this.#hasEndMark() ? [...complete, ...this.end()] : complete;
  }

  #complete(head: Buffer): Buffer {
    this.#pending.add(head);
    return this.#pending.take();
  }

  end(): readonly StreamEvent[] {
    return this.#pending.size === 0 ? none : this.#split(this.#withoutMark(this.#pending.take()));
  }

  #split(bytes: Buffer): readonly StreamEvent[] {
    if (this.#hasExcess) return none;
    const events = this.#events(bytes);
    const readable = readableOf(events);
    this.#hasExcess = readable.length < events.length;
    return readable;
  }

  #events(bytes: Buffer): readonly StreamEvent[] {
    const text = bytes.toString();
    const scanned = text.length === bytes.length ? text : searchable(bytes);
    const hasOtherLineEnds = typeof scanned === 'string' && scanned.includes('\r');
    const events: StreamEvent[] = [];
    for (let begin = 0, end = 0; begin < scanned.length; begin = end) {
      end = hasOtherLineEnds ? behindBlankLine(scanned, begin) : behindLineFeeds(scanned, begin);
      const isAll = end - begin === scanned.length;
      const own = isAll ? text : scanned === text ? text.slice(begin, end) : bytes.toString('utf8', begin, end);
      const fields = hasOtherLineEnds ? fieldsOf(own.replaceAll(otherLineEnds, '\n')) : this.#fields(own);
      events.push(new StreamEvent(fields, own, bytes, begin, end));
    }
    return events;
  }

  #fields(event: string): EventFields {
    const { text, name } = this.#head;
    const end = event.length - 2;
    const isAlike = event.slice(0, text.length) === text && event.indexOf('\n', text.length) === end;
    if (isAlike && event.charCodeAt(end + 1) === LF) return { name, data: event.slice(text.length, end) };
    const fields = fieldsOf(event);
    if (fields.name !== name) this.#head = headOf(fields.name);
    return fields;
  }

  #pushAfterCr(chunk: Buffer): readonly StreamEvent[] {
    this.#endedWithCr = false;
    return chunk[0] === LF
      ? [...this.#events(chunk.subarray(0, 1)), ...this.push(chunk.subarray(1))]
      : this.push(chunk);
  }

  #hasEndMark(): boolean {
    const { size } = this.#pending;
    if (size < endMarkBytes.least || size > endMarkBytes.most) return false;
    return endMark.test(this.#pending.bytes().toString('latin1'));
  }

  #withoutMark(events: Buffer): Buffer {
    if (this.#hasBegun) return events;
    this.#hasBegun = true;
    return withoutByteOrderMark(events);
  }
}

interface EventHead {
  readonly text: string;
  readonly name: string | undefined;
}

function headOf(name?: string): EventHead {
  return { name, text: name === undefined ? 'data: ' : `event: ${name}\ndata: ` };
}

/** Index in `chunk` after its last blank line, which may have begun in `tail`; 0 if there is none. */
function endOfLastEvent(chunk: Buffer, tail: Buffer): number {
  // Most chunks: one event, or several.
  if (chunk.length > 1 && chunk[chunk.length - 1] === LF && chunk[chunk.length - 2] === LF) return chunk.length;
  let lf = lastBefore(chunk, LF, chunk.length);
  let cr = lastBefore(chunk, CR, chunk.length);
  while (lf !== -1 || cr !== -1) {
    const end = Math.max(lf, cr) + 1;
    if (isBlankBefore(chunk, end, tail)) return end;
    if (lf > cr) lf = lastBefore(chunk, LF, lf);
    else cr = lastBefore(chunk, CR, cr);
  }
  return 0;
}

function lastBefore(chunk: Buffer, byte: number, end: number): number {
  return end > 0 ? chunk.lastIndexOf(byte, end - 1) : -1;
}

function isBlankBefore(chunk: Buffer, end: number, tail: Buffer): boolean {
  const at = (index: number) => (index >= 0 ? chunk[index] : tail[tail.length + index]);
  const isCrLf = at(end - 1) === LF && at(end - 2) === CR;
  const before = at(end - (isCrLf ? 3 : 2));
  return before === LF || before === CR;
}

/** One character per byte, so that positions are byte offsets; long events stay buffers, as a copy takes longer than the search. */
function searchable(bytes: Buffer): string | Buffer {
  return bytes.length > longEventBytes && !bytes.includes(CR) ? bytes : bytes.toString('latin1');
}

/** Index after the next blank line of a text without CR; the text's length if there is none. */
function behindLineFeeds(text: string | Buffer, begin: number): number {
  const at = text.indexOf('\n\n', begin);
  return at === -1 ? text.length : at + 2;
}

function behindBlankLine(text: string, begin: number): number {
  blankLine.lastIndex = begin;
  return blankLine.test(text) ? blankLine.lastIndex : text.length;
}

type EventFields = Pick<StreamEvent, 'name' | 'data'>;

/** @param lines that end with LF */
function fieldsOf(lines: string): EventFields {
  let name: string | undefined;
  let data: string | undefined;
  // Joined at the end: a text that grows by a line takes twice as long once it is read.
  let all: string[] | undefined;
  for (let begin = 0, end = 0; begin < lines.length; begin = end + 1) {
    end = lines.indexOf('\n', begin);
    if (end === -1) end = lines.length;
    const value = valueOf(lines, 'data', begin, end);
    if (value === undefined) name = valueOf(lines, 'event', begin, end) ?? name;
    else if (data === undefined) data = value;
    else (all ??= [data]).push(value);
  }
  return { name: name === '' ? undefined : name, data: all?.join('\n') ?? data };
}

function valueOf(lines: string, field: string, begin: number, end: number): string | undefined {
  if (!lines.startsWith(field, begin)) return undefined;
  const at = begin + field.length;
  if (at === end) return '';
  if (lines.charCodeAt(at) !== COLON) return undefined;
  return lines.slice(lines.charCodeAt(at + 1) === SPACE ? at + 2 : at + 1, end);
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Returns the bytes without the byte order mark that some servers put before them: JSON has none (RFC 8259 §8.1). */
export function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes;
}
