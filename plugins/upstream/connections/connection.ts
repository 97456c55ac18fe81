import type { Socket } from 'node:net';
import { bounds } from '#core/platform/bounds.ts';

/** A connection to an upstream, for the request on it. */
export interface UpstreamConnection {
  /** Requests sent on it, including the current one. */
  readonly requests: number;
  /** Bytes received, in all and before the current request. */
  readonly bytesRead: number;
  readonly bytesBefore: number;
}

/**
 * A connection between the system and undici's parser: skips interim responses, bounds the bytes around a body, and
 * notices bytes that no request asked for.
 */
export class WatchedConnection implements UpstreamConnection {
  /** Waits for the connection on which the next request is written. */
  static #report: ((connection: WatchedConnection) => void) | undefined;

  /**
   * Reports the connection of a request. undici does not expose it, but writes a request at once after `onRequestStart`,
   * which must call this.
   */
  static reportNext(report: (connection: WatchedConnection) => void): void {
    WatchedConnection.#report = report;
  }

  /** True when what is written next on a connection is a request. */
  static get isRequestDue(): boolean {
    return WatchedConnection.#report !== undefined;
  }

  requests = 0;
  bytesBefore = 0;
  readonly #socket: Socket;
  readonly #onSurplus: () => void;
  #isIdle = true;
  #isHeadDue = false;
  /** Beginning of an interim response. */
  #partial: Buffer | undefined;
  /** Bytes of the current answer given to the parser, and bytes of the body delivered by it. */
  #received = 0;
  #delivered = 0;

  /** @param onSurplus the upstream sends an answer that no request asked for */
  constructor(socket: Socket, onSurplus: () => void) {
    this.#socket = socket;
    this.#onSurplus = onSurplus;
  }

  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  get isDestroyed(): boolean {
    return this.#socket.destroyed;
  }

  begin(): void {
    this.requests++;
    this.bytesBefore = this.#socket.bytesRead;
    this.#isIdle = false;
    this.#isHeadDue = true;
    this.#received = 0;
    this.#delivered = 0;
    WatchedConnection.#report?.(this);
    WatchedConnection.#report = undefined;
  }

  /** The parser was paused, and reads these bytes again. */
  return(bytes: number): void {
    this.#received -= bytes;
  }

  deliver(bytes: number): void {
    this.#delivered += bytes;
  }

  /** The answer to the current request is complete. */
  finish(): void {
    this.#isIdle = true;
  }

  /** Bytes for the parser; undefined when it needs none of them. */
  receive(chunk: Buffer): Buffer | undefined {
    if (this.#isIdle) {
      if (!isIdleTimeout(chunk) && !isBlank(chunk)) this.#onSurplus();
      return chunk;
    }
    // Bytes around the body: heads, chunk sizes and extensions.
    if (this.#received - this.#delivered > bounds.upstreamFraming + framingRatio * this.#delivered)
      return this.#refuse();
    this.#received += chunk.length;
    return this.#isHeadDue ? this.#skipInterim(chunk) : chunk;
  }

  fail(error: Error & { readonly code?: string }): void {
    // Bytes in the same read as the end of an answer, or what undici's parser cannot read.
    if (this.#isIdle && (error.message === 'bad response' || error.code?.startsWith('HPE_') === true))
      this.#onSurplus();
    const { requests, bytesRead, bytesBefore } = this;
    Object.assign(error, { socket: { requests, bytesRead, bytesBefore } });
  }

  /** undici fails on an unexpected 100, and counts no interim response (RFC 9110 §15.2). */
  #skipInterim(chunk: Buffer): Buffer | undefined {
    let rest = this.#partial === undefined ? chunk : Buffer.concat([this.#partial, chunk]);
    this.#partial = undefined;
    while (isInterim(rest)) {
      const end = rest.indexOf('\r\n\r\n');
      if (end === -1) return this.#await(rest);
      rest = rest.subarray(end + 4);
    }
    if (isTooShort(rest)) return this.#await(rest);
    this.#isHeadDue = false;
    return rest;
  }

  #await(partial: Buffer): undefined {
    if (partial.length > bounds.upstreamHead) return this.#refuse();
    this.#partial = partial;
  }

  #refuse(): undefined {
    this.#socket.destroy(new Error('interim responses or chunk extensions without end'));
  }
}

/** Bytes around each byte of a body: in chunks of one byte there are five. */
const framingRatio = 16;

/** 101 is left to undici, which fails: no upgrade was requested. */
const interimHead = /^(?:\r\n)*HTTP\/1\.\d 1(?!01)\d\d/;
const statusLine = 'HTTP/1.1 100';

/** True when the next head is an interim one. */
function isInterim(bytes: Buffer): boolean {
  // Most answers end here: the first digit of the status.
  if (bytes[0] === 0x48 && bytes.length > 9 && bytes[9] !== 0x31) return false;
  return interimHead.test(bytes.toString('latin1', 0, 64));
}

/** True when more bytes tell whether the next head is an interim one. */
function isTooShort(bytes: Buffer): boolean {
  return (
    bytes.length < statusLine.length && /^[\r\n]*(?:H(?:T(?:T(?:P(?:\/[\d. ]*)?)?)?)?)?$/.test(bytes.toString('latin1'))
  );
}

/** Load balancers announce with a 408 that they close an idle connection. */
function isIdleTimeout(bytes: Buffer): boolean {
  return /^HTTP\/1\.\d 408/.test(bytes.toString('latin1', 0, 12));
}

/** Empty lines, which parsers ignore between messages. */
function isBlank(bytes: Buffer): boolean {
  return bytes.length <= 4 && bytes.every((byte) => byte === 0x0d || byte === 0x0a);
}

/** The connection that an error broke; undefined when none was open yet. */
export function brokenConnection(error: unknown): UpstreamConnection | undefined {
  return error instanceof Error && 'socket' in error ? (error.socket as UpstreamConnection) : undefined;
}

/**
 * True when a connection that has served requests before has brought nothing for the current one. If it broke, it was closed
 * while idle; if not, its other side may have vanished.
 */
export function isUnanswered({ requests, bytesRead, bytesBefore }: UpstreamConnection): boolean {
  return requests > 1 && bytesRead === bytesBefore;
}
