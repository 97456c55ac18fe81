import { bounds } from '#core/platform/bounds.ts';

/** Headers by lower-case name. A header that occurs several times is a list. */
export type ResponseHeaders = Record<string, string | string[] | undefined>;

export interface ResponseSink {
  /** Receives the final head; interim responses are skipped. */
  onHead(status: number, headers: ResponseHeaders): void;
  /** Receives `bytes[start]` to `bytes[end - 1]`. The sink must copy what it keeps, because `bytes` is overwritten afterwards. */
  onData(bytes: Buffer, start: number, end: number): void;
  onEnd(): void;
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
const maxFramingRatio = 16; // chunks of one byte each have a ratio of five

const versionPrefix = 'HTTP/1.';
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/;
const fieldLines = /^(?:[\w!#$%&'*+\-.^`|~]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
const misplacedByte = /\r[^\n]|[^\r]\n|\0/; // half a line break, or a byte that is not allowed in a head

/**
 * Parses HTTP/1.1 and 1.0 responses from bytes that may be split anywhere. It is strict: where two parsers could disagree about the end of
 * a response, it throws.
 *
 * Source: RFC 9112, sections 2.2 and 4 to 7, and RFC 9110, section 15.2.
 */
export class ResponseParser {
  /** The caller or the sink sets it to make `execute` return before the next part. */
  isPaused = false;
  /** True if another request may follow on the connection. */
  isReusable = false;
  /** Idle timeout in seconds, as announced by the upstream. */
  idleSeconds: number | undefined;
  #sink: ResponseSink | undefined;
  #hasBody = true;
  #state: State = 'head';
  #remainingBytes = 0; // of the body or chunk; while a chunk size is being read, the size so far
  #sizeDigits = 0;
  #block: Buffer | undefined;
  #blockLength = 0;
  #framingBytes = 0;
  #bodyBytes = 0;

  /** @param hasBody false for the response to HEAD */
  start(sink: ResponseSink, hasBody: boolean): void {
    this.#sink = sink;
    this.#hasBody = hasBody;
    this.#state = 'head';
    this.#block = undefined;
    this.#framingBytes = 0;
    this.#bodyBytes = 0;
    this.isPaused = false;
    this.isReusable = false;
    this.idleSeconds = undefined;
  }

  get isIdle(): boolean {
    return this.#sink === undefined;
  }

  /**
   * @returns number of bytes read; less than given if paused or if the response is complete
   * @throws FramingError
   */
  execute(bytes: Buffer, start = 0, end = bytes.length): number {
    let position = start;
    while (position < end && !this.isPaused && this.#sink !== undefined)
      position = this.#parseNext(this.#sink, bytes, position, end);
    return position - start;
  }

  /** Ends the input, because the upstream has closed the connection. Returns true if this completed the response. */
  close(): boolean {
    if (this.#sink === undefined || this.#state !== 'until close') return false;
    this.#finish(this.#sink);
    return true;
  }

  #parseNext(sink: ResponseSink, bytes: Buffer, position: number, end: number): number {
    if (this.#state === 'counted' || this.#state === 'chunk' || this.#state === 'until close')
      return this.#readData(sink, bytes, position, end);
    const next = this.#readFraming(sink, bytes, position, end);
    this.#framingBytes += next - position;
    if (this.#framingBytes > bounds.upstreamFraming + maxFramingRatio * this.#bodyBytes)
      throw new FramingError('interim responses or chunk extensions without end');
    return next;
  }

  #readData(sink: ResponseSink, bytes: Buffer, position: number, end: number): number {
    if (this.#state === 'until close') {
      this.#bodyBytes += end - position;
      sink.onData(bytes, position, end);
      return end;
    }
    const next = Math.min(end, position + this.#remainingBytes);
    this.#remainingBytes -= next - position;
    this.#bodyBytes += next - position;
    const isLast = this.#remainingBytes === 0 && this.#state === 'counted';
    if (this.#remainingBytes === 0 && this.#state === 'chunk') this.#state = 'chunk end';
    sink.onData(bytes, position, next);
    if (isLast) this.#finish(sink);
    return next;
  }

  #readFraming(sink: ResponseSink, bytes: Buffer, position: number, end: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(sink, bytes, position, end);
      case 'trailers':
        return this.#readTrailers(sink, bytes, position, end);
      case 'chunk end':
      case 'chunk line feed':
        return this.#readChunkEnd(bytes, position, end);
      default:
        return this.#readSize(bytes, position, end);
    }
  }

  #readHead(sink: ResponseSink, bytes: Buffer, position: number, end: number): number {
    const [text, next] = this.#readBlock(bytes, position, end);
    if (text === undefined) return next;
    const head = text.startsWith('\r') ? text.replace(/^(?:\r\n)+/, '') : text;
    // Empty lines may precede a response.
    if (head === '') return next;
    this.#parseHead(sink, head);
    return next;
  }

  #readTrailers(sink: ResponseSink, bytes: Buffer, position: number, end: number): number {
    const [text, next] = this.#readBlock(bytes, position, end);
    if (text === undefined) return next;
    if (!fieldLines.test(text.slice(2, -2))) throw new FramingError('malformed trailers');
    this.#finish(sink);
    return next;
  }

  #readBlock(bytes: Buffer, position: number, end: number): [text: string | undefined, next: number] {
    if (this.#block === undefined) {
      // The bytes past `end` are left from earlier reads.
      const blockEnd = bytes.indexOf(emptyLine, position);
      if (blockEnd !== -1 && blockEnd + 4 <= end) {
        if (blockEnd + 4 - position > bounds.upstreamHead) throw new FramingError('a head that is too long');
        return [bytes.toString('latin1', position, blockEnd + 4), blockEnd + 4];
      }
    }
    return this.#collectBlock(bytes, position, end);
  }

  #collectBlock(bytes: Buffer, position: number, end: number): [text: string | undefined, next: number] {
    const previousLength = this.#block === undefined ? 0 : this.#blockLength;
    let block = this.#block;
    if (block === undefined || block.length < previousLength + end - position) {
      block = Buffer.allocUnsafe(2 * (previousLength + end - position));
      this.#block?.copy(block, 0, 0, previousLength);
      this.#block = block;
    }
    const length = previousLength + bytes.copy(block, previousLength, position, end);
    const blockEnd = block.subarray(0, length).indexOf(emptyLine, Math.max(0, previousLength - 3));
    const usedLength = blockEnd === -1 ? length : blockEnd + 4;
    this.#blockLength = usedLength;
    if (usedLength > bounds.upstreamHead) throw new FramingError('a head that is too long');
    if (blockEnd === -1) {
      // A response that is not HTTP may never complete a head.
      this.#rejectEarly(block, Math.max(0, previousLength - 1), length);
      return [undefined, end];
    }
    this.#block = undefined;
    return [block.toString('latin1', 0, usedLength), position + usedLength - previousLength];
  }

  #rejectEarly(block: Buffer, start: number, length: number): void {
    if (misplacedByte.test(block.toString('latin1', start, length))) throw new FramingError('a misplaced line break');
    if (this.#state !== 'head') return;
    const firstCharacters = block.toString('latin1', 0, Math.min(length, 64)).replace(/^[\r\n]+/, '');
    if (!versionPrefix.startsWith(firstCharacters.slice(0, versionPrefix.length))) throw new FramingError('not HTTP');
  }

  #parseHead(sink: ResponseSink, head: string): void {
    const statusMatch = statusLine.exec(head);
    if (statusMatch === null) throw new FramingError('a malformed status line');
    const fields = head.slice(statusMatch[0].length, -2);
    if (!fieldLines.test(fields)) throw new FramingError('a malformed header');
    const status = Number(statusMatch[2]);
    if (status === 101) throw new FramingError('an upgrade that was not requested');
    // RFC 9110, section 15.2: any number of interim responses may arrive, even unexpected ones.
    if (status < 200) return;
    const headers = parseFields(fields);
    this.#determineFraming(status, headers, statusMatch[1] === '1');
    sink.onHead(status, headers);
    if (this.#sink !== undefined && this.#isEmpty) this.#finish(sink);
  }

  get #isEmpty(): boolean {
    return this.#state === 'counted' && this.#remainingBytes === 0;
  }

  /** Determines where the body ends (RFC 9112 §6.3). */
  #determineFraming(status: number, headers: ResponseHeaders, isHttp11: boolean): void {
    const { 'content-length': length, 'transfer-encoding': coding } = headers;
    this.isReusable = allowsReuse(headers, isHttp11);
    this.idleSeconds = parseKeepAliveTimeout(headers['keep-alive']);
    if (length !== undefined && coding !== undefined)
      throw new FramingError('both Content-Length and Transfer-Encoding');
    if (
      length !== undefined &&
      (typeof length !== 'string' || length.length > maxLengthDigits || !/^\d+$/.test(length))
    )
      throw new FramingError('a malformed Content-Length');
    const isChunked = String(coding).toLowerCase() === 'chunked';
    // RFC 2616 still had `identity`, which means no coding. The body then ends with the connection.
    const isIdentity = String(coding).toLowerCase() === 'identity';
    if (coding !== undefined && (typeof coding !== 'string' || !(isChunked || isIdentity)))
      throw new FramingError('a transfer coding other than chunked');
    this.#remainingBytes = 0;
    this.#state = 'counted';
    if (!this.#hasBody) return;
    if (status === 204 || status === 304) {
      // Some upstreams send a body anyway, which would be taken for the next response.
      if (coding !== undefined || (length !== undefined && Number(length) > 0)) this.isReusable = false;
      return;
    }
    if (isChunked) {
      // RFC 9112, section 6.1: chunked framing cannot be trusted in HTTP/1.0.
      if (!isHttp11) this.isReusable = false;
      this.#startSize();
    } else if (length === undefined) {
      this.isReusable = false;
      this.#state = 'until close';
    } else this.#remainingBytes = Number(length);
  }

  #startSize(): void {
    this.#state = 'size';
    this.#remainingBytes = 0;
    this.#sizeDigits = 0;
  }

  #readSize(bytes: Buffer, start: number, end: number): number {
    let position = start;
    while (position < end) {
      const byte = bytes[position++] as number;
      if (this.#state === 'size end') {
        if (byte !== lf) throw new FramingError('a malformed chunk size');
        this.#endSize();
        return position;
      }
      if (byte === cr && this.#sizeDigits > 0) this.#state = 'size end';
      else if (this.#state === 'extension') {
        if ((byte < 0x20 && byte !== 0x09) || byte === 0x7f) throw new FramingError('a malformed chunk extension');
      } else if (byte === semicolon && this.#sizeDigits > 0) this.#state = 'extension';
      else this.#addDigit(byte);
    }
    return position;
  }

  #addDigit(byte: number): void {
    const digit = parseHexDigit(byte);
    if (digit === -1 || ++this.#sizeDigits > maxSizeDigits) throw new FramingError('a malformed chunk size');
    this.#remainingBytes = this.#remainingBytes * 16 + digit;
  }

  #endSize(): void {
    if (this.#remainingBytes > 0) {
      this.#state = 'chunk';
      return;
    }
    // Together with the preceding line break, trailers end like a head.
    this.#state = 'trailers';
    this.#block = Buffer.allocUnsafe(64);
    this.#blockLength = this.#block.write('\r\n', 'latin1');
  }

  #readChunkEnd(bytes: Buffer, position: number, end: number): number {
    if (this.#state === 'chunk end') {
      if (bytes[position] !== cr) throw new FramingError('a chunk longer than its size');
      this.#state = 'chunk line feed';
      return position + 1 === end ? end : this.#readChunkEnd(bytes, position + 1, end);
    }
    if (bytes[position] !== lf) throw new FramingError('a chunk longer than its size');
    this.#startSize();
    return position + 1;
  }

  #finish(sink: ResponseSink): void {
    this.#sink = undefined;
    sink.onEnd();
  }
}

function allowsReuse({ connection }: ResponseHeaders, isHttp11: boolean): boolean {
  if (connection === undefined) return isHttp11;
  const options = String(connection)
    .toLowerCase()
    .split(/[\t ]*,[\t ]*/);
  return !options.includes('close') && (isHttp11 || options.includes('keep-alive'));
}

function parseFields(lines: string): ResponseHeaders {
  const headers: ResponseHeaders = { __proto__: null } as unknown as ResponseHeaders;
  for (let position = 0; position < lines.length;) {
    const end = lines.indexOf('\r', position);
    const colon = lines.indexOf(':', position);
    const name = lines.slice(position, colon).toLowerCase();
    const value = trimSpaces(lines, colon + 1, end);
    const previous = headers[name];
    if (previous === undefined) headers[name] = value;
    else if (typeof previous === 'string') headers[name] = [previous, value];
    else previous.push(value);
    position = end + 2;
  }
  return headers;
}

function trimSpaces(text: string, valueStart: number, valueEnd: number): string {
  // `trim` would also remove other characters (RFC 9110 §5.6.3).
  let [start, end] = [valueStart, valueEnd];
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (start < end && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function parseKeepAliveTimeout(value: string | string[] | undefined): number | undefined {
  if (value === undefined) return undefined;
  const seconds = /timeout\s*=\s*"?(\d{1,9})/i.exec(String(value))?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

function parseHexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
