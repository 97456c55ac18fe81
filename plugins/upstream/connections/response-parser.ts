import { bounds } from '#core/platform/bounds.ts';

/** Headers by lower-case name; a list if a header occurs several times. */
export type ResponseHeaders = Record<string, string | string[] | undefined>;

/** Receives the parts of one response from its parser. */
export interface ResponseSink {
  /** The final head; interim responses are skipped. */
  head(status: number, headers: ResponseHeaders): void;
  /** Part of the body: `bytes[start]` to `bytes[end - 1]`. Copy it, because `bytes` is overwritten afterwards. */
  data(bytes: Buffer, start: number, end: number): void;
  end(): void;
}

class FramingError extends Error {
  override readonly name = 'FramingError';

  constructor(problem: string) {
    super(`not a valid HTTP/1.1 response: ${problem}`);
  }
}

type State =
  | 'head'
  | 'counted' // body with a content length
  | 'until close' // body without a length
  | 'size'
  | 'extension'
  | 'size end' // line feed after the size
  | 'chunk'
  | 'chunk end' // line break after the chunk
  | 'chunk line feed'
  | 'trailers';

const cr = 0x0d;
const lf = 0x0a;
const semicolon = 0x3b;
const emptyLine = Buffer.from('\r\n\r\n');

const maxSizeDigits = 12; // hexadecimal: less than 2 ** 48
const maxLengthDigits = 15; // fits a safe integer
const maxFramingRatio = 16; // chunks of one byte have a ratio of five

const beginning = 'HTTP/1.';
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/;
const fieldLines = /^(?:[\w!#$%&'*+\-.^`|~]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
/** Half a line break, or a byte that is not allowed in a head. */
const misplaced = /\r[^\n]|[^\r]\n|\0/;

/**
 * Parses HTTP/1.1 and 1.0 responses from bytes that may be split anywhere. Strict: where two parsers could disagree about the end of a
 * response, it throws.
 *
 * Source: RFC 9112, sections 2.2, 4 to 7, and RFC 9110, section 15.2.
 */
export class ResponseParser {
  /** Set by the caller or the sink: `execute` returns before the next part. */
  isPaused = false;
  /** True if another request may follow on the connection. */
  isReusable = false;
  /** Idle timeout in seconds, as announced by the upstream. */
  idleSeconds: number | undefined;
  #sink: ResponseSink | undefined;
  #hasBody = true;
  #state: State = 'head';
  /** Remaining bytes of the body or chunk; while a chunk size is read, the size so far. */
  #left = 0;
  #digits = 0;
  #partial: Buffer | undefined;
  #partialLength = 0;
  #framing = 0; // bytes
  #delivered = 0; // bytes

  /**
   * Prepares for a response.
   *
   * @param hasBody false for the response to HEAD
   */
  begin(sink: ResponseSink, hasBody: boolean): void {
    this.#sink = sink;
    this.#hasBody = hasBody;
    this.#state = 'head';
    this.#partial = undefined;
    this.#framing = 0;
    this.#delivered = 0;
    this.isPaused = false;
    this.isReusable = false;
    this.idleSeconds = undefined;
  }

  /** True while no response is expected. */
  get isIdle(): boolean {
    return this.#sink === undefined;
  }

  /**
   * @returns number of bytes read: fewer than given if paused, or if the response is complete
   * @throws FramingError
   */
  execute(bytes: Buffer, start = 0, end = bytes.length): number {
    let at = start;
    while (at < end && !this.isPaused && this.#sink !== undefined) at = this.#step(this.#sink, bytes, at, end);
    return at - start;
  }

  /**
   * The upstream closed the connection.
   *
   * @returns true if this completed the response
   */
  close(): boolean {
    if (this.#sink === undefined || this.#state !== 'until close') return false;
    this.#finish(this.#sink);
    return true;
  }

  #step(sink: ResponseSink, bytes: Buffer, at: number, end: number): number {
    if (this.#state === 'counted' || this.#state === 'chunk' || this.#state === 'until close')
      return this.#readData(sink, bytes, at, end);
    const next = this.#readFraming(sink, bytes, at, end);
    this.#framing += next - at;
    if (this.#framing > bounds.upstreamFraming + maxFramingRatio * this.#delivered)
      throw new FramingError('interim responses or chunk extensions without end');
    return next;
  }

  #readData(sink: ResponseSink, bytes: Buffer, at: number, end: number): number {
    if (this.#state === 'until close') {
      this.#delivered += end - at;
      sink.data(bytes, at, end);
      return end;
    }
    const next = Math.min(end, at + this.#left);
    this.#left -= next - at;
    this.#delivered += next - at;
    const isLast = this.#left === 0 && this.#state === 'counted';
    if (this.#left === 0 && this.#state === 'chunk') this.#state = 'chunk end';
    sink.data(bytes, at, next);
    if (isLast) this.#finish(sink);
    return next;
  }

  #readFraming(sink: ResponseSink, bytes: Buffer, at: number, end: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(sink, bytes, at, end);
      case 'trailers':
        return this.#readTrailers(sink, bytes, at, end);
      case 'chunk end':
      case 'chunk line feed':
        return this.#readChunkEnd(bytes, at, end);
      default:
        return this.#readSize(bytes, at, end);
    }
  }

  #readHead(sink: ResponseSink, bytes: Buffer, at: number, end: number): number {
    const [text, next] = this.#readBlock(bytes, at, end);
    if (text === undefined) return next;
    const head = text.startsWith('\r') ? text.replace(/^(?:\r\n)+/, '') : text;
    // Only empty lines, which may precede a response.
    if (head === '') return next;
    this.#interpret(sink, head);
    return next;
  }

  #readTrailers(sink: ResponseSink, bytes: Buffer, at: number, end: number): number {
    const [text, next] = this.#readBlock(bytes, at, end);
    if (text === undefined) return next;
    if (!fieldLines.test(text.slice(2, -2))) throw new FramingError('malformed trailers');
    this.#finish(sink);
    return next;
  }

  #readBlock(bytes: Buffer, at: number, end: number): [text: string | undefined, next: number] {
    if (this.#partial === undefined) {
      // Beyond `end` are bytes of earlier reads.
      const found = bytes.indexOf(emptyLine, at);
      if (found !== -1 && found + 4 <= end) {
        if (found + 4 - at > bounds.upstreamHead) throw new FramingError('a head that is too long');
        return [bytes.toString('latin1', at, found + 4), found + 4];
      }
    }
    return this.#collect(bytes, at, end);
  }

  #collect(bytes: Buffer, at: number, end: number): [text: string | undefined, next: number] {
    const before = this.#partial === undefined ? 0 : this.#partialLength;
    let room = this.#partial;
    if (room === undefined || room.length < before + end - at) {
      room = Buffer.allocUnsafe(2 * (before + end - at));
      this.#partial?.copy(room, 0, 0, before);
      this.#partial = room;
    }
    const length = before + bytes.copy(room, before, at, end);
    const found = room.subarray(0, length).indexOf(emptyLine, Math.max(0, before - 3));
    const used = found === -1 ? length : found + 4;
    this.#partialLength = used;
    if (used > bounds.upstreamHead) throw new FramingError('a head that is too long');
    if (found === -1) {
      this.#refuseEarly(room, Math.max(0, before - 1), length);
      return [undefined, end];
    }
    this.#partial = undefined;
    return [room.toString('latin1', 0, used), at + used - before];
  }

  /** Rejects before the head is complete: a response that is not HTTP may never complete one. */
  #refuseEarly(room: Buffer, from: number, length: number): void {
    if (misplaced.test(room.toString('latin1', from, length))) throw new FramingError('a misplaced line break');
    if (this.#state !== 'head') return;
    const begin = room.toString('latin1', 0, Math.min(length, 64)).replace(/^[\r\n]+/, '');
    if (!beginning.startsWith(begin.slice(0, beginning.length))) throw new FramingError('not HTTP');
  }

  #interpret(sink: ResponseSink, head: string): void {
    const line = statusLine.exec(head);
    if (line === null) throw new FramingError('a malformed status line');
    const lines = head.slice(line[0].length, -2);
    if (!fieldLines.test(lines)) throw new FramingError('a malformed header');
    const status = Number(line[2]);
    if (status === 101) throw new FramingError('an upgrade that nobody requested');
    // RFC 9110, section 15.2: any number of interim responses may come, even unexpected ones.
    if (status < 200) return;
    const headers = readFields(lines);
    this.#frame(status, headers, line[1] === '1');
    sink.head(status, headers);
    if (this.#sink !== undefined && this.#isEmpty) this.#finish(sink);
  }

  get #isEmpty(): boolean {
    return this.#state === 'counted' && this.#left === 0;
  }

  /** Determines where the body ends (RFC 9112 §6.3). */
  #frame(status: number, headers: ResponseHeaders, isCurrent: boolean): void {
    const { 'content-length': length, 'transfer-encoding': coding, connection } = headers;
    const options =
      connection === undefined
        ? []
        : String(connection)
            .toLowerCase()
            .split(/[\t ]*,[\t ]*/);
    this.isReusable = !options.includes('close') && (isCurrent || options.includes('keep-alive'));
    this.idleSeconds = readTimeout(headers['keep-alive']);
    if (length !== undefined && coding !== undefined) throw new FramingError('two lengths of the body');
    if (
      length !== undefined &&
      (typeof length !== 'string' || length.length > maxLengthDigits || !/^\d+$/.test(length))
    )
      throw new FramingError('a malformed length of the body');
    const isChunked = String(coding).toLowerCase() === 'chunked';
    // Earlier versions of HTTP/1.1 used `identity` for no coding. The body ends with the connection.
    const isIdentity = String(coding).toLowerCase() === 'identity';
    if (coding !== undefined && (typeof coding !== 'string' || !(isChunked || isIdentity)))
      throw new FramingError('a transfer coding other than chunked');
    this.#left = 0;
    this.#state = 'counted';
    if (!this.#hasBody) return;
    if (status === 204 || status === 304) {
      // Some upstreams send a body nonetheless, which would be taken for the next response.
      if (coding !== undefined || (length !== undefined && Number(length) > 0)) this.isReusable = false;
      return;
    }
    if (isChunked) {
      // RFC 9112, section 6.1: in HTTP/1.0, chunked framing cannot be trusted.
      if (!isCurrent) this.isReusable = false;
      this.#expectSize();
    } else if (length === undefined) {
      this.isReusable = false;
      this.#state = 'until close';
    } else this.#left = Number(length);
  }

  #expectSize(): void {
    this.#state = 'size';
    this.#left = 0;
    this.#digits = 0;
  }

  #readSize(bytes: Buffer, from: number, end: number): number {
    let at = from;
    while (at < end) {
      const byte = bytes[at++] as number;
      if (this.#state === 'size end') {
        if (byte !== lf) throw new FramingError('a malformed size of a chunk');
        this.#endSize();
        return at;
      }
      if (byte === cr && this.#digits > 0) this.#state = 'size end';
      else if (this.#state === 'extension') {
        if ((byte < 0x20 && byte !== 0x09) || byte === 0x7f) throw new FramingError('a malformed extension of a chunk');
      } else if (byte === semicolon && this.#digits > 0) this.#state = 'extension';
      else this.#addDigit(byte);
    }
    return at;
  }

  #addDigit(byte: number): void {
    const digit = hexDigit(byte);
    if (digit === -1 || ++this.#digits > maxSizeDigits) throw new FramingError('a malformed size of a chunk');
    this.#left = this.#left * 16 + digit;
  }

  #endSize(): void {
    if (this.#left > 0) {
      this.#state = 'chunk';
      return;
    }
    // Trailers end like a head if the line break before them is included.
    this.#state = 'trailers';
    this.#partial = Buffer.allocUnsafe(64);
    this.#partialLength = this.#partial.write('\r\n', 'latin1');
  }

  #readChunkEnd(bytes: Buffer, at: number, end: number): number {
    if (this.#state === 'chunk end') {
      if (bytes[at] !== cr) throw new FramingError('a chunk that is longer than its size');
      this.#state = 'chunk line feed';
      return at + 1 === end ? end : this.#readChunkEnd(bytes, at + 1, end);
    }
    if (bytes[at] !== lf) throw new FramingError('a chunk that is longer than its size');
    this.#expectSize();
    return at + 1;
  }

  #finish(sink: ResponseSink): void {
    this.#sink = undefined;
    sink.end();
  }
}

function readFields(lines: string): ResponseHeaders {
  const headers: ResponseHeaders = { __proto__: null } as unknown as ResponseHeaders;
  for (let at = 0; at < lines.length;) {
    const end = lines.indexOf('\r', at);
    const colon = lines.indexOf(':', at);
    const name = lines.slice(at, colon).toLowerCase();
    const value = withoutSpaces(lines, colon + 1, end);
    const previous = headers[name];
    if (previous === undefined) headers[name] = value;
    else if (typeof previous === 'string') headers[name] = [previous, value];
    else previous.push(value);
    at = end + 2;
  }
  return headers;
}

/** Only spaces and tabs surround a value; `trim` would remove other characters too (RFC 9110 §5.6.3). */
function withoutSpaces(text: string, from: number, to: number): string {
  let [begin, end] = [from, to];
  while (begin < end && isSpace(text.charCodeAt(begin))) begin++;
  while (begin < end && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(begin, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Seconds of `Keep-Alive: timeout=5`. */
function readTimeout(value: string | string[] | undefined): number | undefined {
  if (value === undefined) return undefined;
  const seconds = /timeout\s*=\s*"?(\d{1,9})/i.exec(String(value))?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
