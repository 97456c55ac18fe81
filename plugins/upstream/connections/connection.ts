import type { Socket } from 'node:net';
import { lendBytes, reclaimBytes } from '#core/platform/memory/freed-bytes.ts';
import type { Connect } from './connector.ts';
import { ResponseParser, type ResponseHeaders, type ResponseSink } from './response-parser.ts';

interface ConnectionUse {
  readonly requests: number;
  readonly bytesRead: number;
  readonly bytesReadBefore: number; // before the current request
}

/** Controls one request. Does nothing once the response is complete. */
export interface CallControl {
  readonly connection?: ConnectionUse & { readonly isDestroyed: boolean };
  /** Closes the connection. */
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** Receives the response to a request, in this order. An error may come at any time and is the last call. */
export interface CallHandler {
  /** Called when a connection is open; the request is sent unless this call aborts it. */
  onRequestStart(control: CallControl): void;
  onResponseStart(control: CallControl, status: number, headers: ResponseHeaders): void;
  onResponseData(control: CallControl, chunk: Buffer): void;
  onResponseEnd(control: CallControl): void;
  onResponseError(control: CallControl, error: Error): void;
}

export interface ConnectionOwner {
  /** Called when the connection can take the next request. */
  onIdle(connection: Connection): void;
  /** Called when the connection is closed, by either side. */
  onClosed(connection: Connection): void;
  /** Called when the upstream sent a response without a request. */
  onSurplus(): void;
}

class ClosedError extends Error {
  readonly code = 'UND_ERR_SOCKET'; // undici's, like the errors of other clients

  constructor() {
    super('other side closed');
  }
}

const readBuffer = Buffer.allocUnsafeSlow(65_536); // shared, because only one read happens at a time

/**
 * A connection to an upstream, with one request at a time. Bytes received without a request never become part of a response
 * ([decision 33](../../../docs/decisions/0033-between-an-upstream-and-the-parser.md)).
 */
export class Connection implements ConnectionUse {
  requests = 0;
  bytesRead = 0;
  bytesReadBefore = 0;
  openedAt = performance.now();
  idleSince = this.openedAt;
  /** `idleSince` by the wall clock, which keeps running while the machine is suspended; epoch ms. */
  idleSinceWall = Date.now();
  readonly #owner: ConnectionOwner;
  readonly #isPersistent: boolean;
  readonly #parser = new ResponseParser();
  readonly #socket: Socket;
  #isConnected = false;
  #isClosed = false;
  #isParsing = false;
  #call: Call | undefined;
  #unparsed: Buffer | undefined;
  #hasSocketEnded = false; // by the upstream; bytes may still be unparsed

  /** @param isPersistent false if it serves a single request */
  constructor(owner: ConnectionOwner, connect: Connect, isPersistent: boolean) {
    this.#owner = owner;
    this.#isPersistent = isPersistent;
    const onread = { buffer: readBuffer, callback: (count: number) => this.#onRead(count) };
    this.#socket = connect(onread, (error) => {
      if (error === undefined) this.#onConnected();
      else this.#close(error);
    });
  }

  get isDestroyed(): boolean {
    return this.#isClosed || this.#socket.destroyed;
  }

  /** Idle timeout in seconds, as announced by the upstream. */
  get idleSeconds(): number | undefined {
    return this.#parser.idleSeconds;
  }

  /** The connection must be idle. `hasBody` is false if the response has none. */
  send(request: readonly Buffer[], hasBody: boolean, handler: CallHandler): void {
    this.#call = new Call(this, request, hasBody, handler);
    if (this.#isConnected) this.#startCall(this.#call);
  }

  destroy(): void {
    this.#close(new Error('the connection is no longer needed'));
  }

  abort(call: Call, reason: Error): void {
    if (call !== this.#call) return;
    if (call.isSent) return this.#close(reason);
    // Nothing was sent, so the next request can use the connection.
    this.requests++;
    this.#call = undefined;
    this.#release(this.#isPersistent);
    call.handler.onResponseError(call, reason);
  }

  pause(call: Call): void {
    if (call !== this.#call) return;
    this.#parser.isPaused = true;
    this.#socket.pause();
  }

  resume(call: Call): void {
    if (call !== this.#call || !this.#parser.isPaused) return;
    this.#parser.isPaused = false;
    // If the parser is the caller, it continues by itself.
    if (!this.#isParsing) this.#resumeParsing();
    if (!this.#parser.isPaused && !this.#isClosed) this.#socket.resume();
  }

  #resumeParsing(): void {
    const [call, unparsed] = [this.#call, this.#unparsed];
    this.#unparsed = undefined;
    if (call !== undefined && unparsed !== undefined) this.#parse(call, unparsed, unparsed.length);
    if (this.#hasSocketEnded && this.#unparsed === undefined) this.#onSocketEnd();
  }

  #onConnected(): void {
    if (this.#isClosed) return;
    this.#isConnected = true;
    this.openedAt = performance.now();
    this.#socket.on('end', () => this.#onSocketEnd());
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => {
      if (!this.#isClosed) this.#fail(new ClosedError());
    });
    if (this.#call !== undefined) this.#startCall(this.#call);
  }

  #startCall(call: Call): void {
    try {
      call.handler.onRequestStart(call);
    } catch (error) {
      this.#close(error as Error);
    }
    if (call !== this.#call) return;
    this.requests++;
    this.bytesReadBefore = this.bytesRead;
    this.#parser.start(call, call.hasBody);
    try {
      this.#writeRequest(call.takeRequest());
    } catch (error) {
      this.#close(error as Error);
    }
  }

  #writeRequest(request: readonly Buffer[]): void {
    const lastPiece = request.at(-1) as Buffer;
    if (request.length === 1) {
      this.#socket.write(lastPiece);
      return;
    }
    lendBytes(request);
    this.#socket.cork();
    for (const piece of request.slice(0, -1)) this.#socket.write(piece);
    // After an error, the bytes are left to garbage collection.
    this.#socket.write(lastPiece, (error) => error ?? reclaimBytes(request));
    this.#socket.uncork();
  }

  #onRead(count: number): boolean {
    this.bytesRead += count;
    if (this.#isClosed) return true;
    const call = this.#call;
    if (call?.isSent !== true) this.#closeOnSurplus(readBuffer.subarray(0, count));
    // Even while paused, TLS may deliver bytes that it has already decrypted.
    else if (this.#unparsed !== undefined)
      this.#unparsed = Buffer.concat([this.#unparsed, readBuffer.subarray(0, count)]);
    else this.#parse(call, readBuffer, count);
    // Returning false stops the socket; `pause` would have no effect while it starts to read.
    return !this.#parser.isPaused;
  }

  #parse(call: Call, bytes: Buffer, length: number): void {
    this.#isParsing = true;
    let parsedBytes = 0;
    try {
      parsedBytes = this.#parser.execute(bytes, 0, length);
      call.deliver(bytes);
    } catch (error) {
      call.deliver(bytes);
      this.#fail(error as Error);
    }
    this.#isParsing = false;
    if (this.#isClosed) return;
    const remainder = parsedBytes < length ? bytes.subarray(parsedBytes, length) : undefined;
    if (this.#parser.isIdle) this.#finishCall(remainder);
    else if (remainder !== undefined) this.#unparsed = bytes === readBuffer ? Buffer.from(remainder) : remainder;
  }

  #finishCall(surplus?: Buffer): void {
    const call = this.#call as Call;
    this.#call = undefined;
    // If the request is still being sent, the next one would be queued behind it.
    const isReusable = this.#parser.isReusable && this.#isPersistent && this.#socket.writableLength === 0;
    if (surplus !== undefined) this.#closeOnSurplus(surplus);
    this.#release(isReusable);
    call.handler.onResponseEnd(call);
  }

  #release(isReusable: boolean): void {
    if (this.#isClosed) return;
    if (!isReusable || this.#hasSocketEnded) return this.#close();
    // The previous reader may have left the connection paused.
    this.#parser.isPaused = false;
    if (this.#socket.isPaused()) this.#socket.resume();
    this.idleSince = performance.now();
    this.idleSinceWall = Date.now();
    this.#owner.onIdle(this);
  }

  #closeOnSurplus(bytes: Buffer): void {
    if (isEmptyLines(bytes)) return;
    if (!isIdleTimeout(bytes)) this.#owner.onSurplus();
    this.#close(new ClosedError());
  }

  #onSocketEnd(): void {
    this.#hasSocketEnded = true;
    if (this.#unparsed !== undefined || this.#isClosed) return;
    if (this.#parser.close()) this.#finishCall();
    else this.#fail(new ClosedError());
  }

  #fail(error: Error): void {
    const { requests, bytesRead, bytesReadBefore } = this;
    this.#close(Object.assign(error, { socket: { requests, bytesRead, bytesReadBefore } }));
  }

  #close(error?: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // Stops the parser, which then drops the remaining bytes.
    this.#parser.isPaused = true;
    this.#unparsed = undefined;
    this.#socket.destroy();
    const call = this.#call;
    this.#call = undefined;
    this.#owner.onClosed(this);
    if (error !== undefined) call?.handler.onResponseError(call, error);
  }
}

class Call implements CallControl, ResponseSink {
  readonly connection: Connection;
  readonly hasBody: boolean;
  readonly handler: CallHandler;
  #request: readonly Buffer[] | undefined;
  #chunkStart = 0;
  #chunkEnd = 0;

  constructor(connection: Connection, request: readonly Buffer[], hasBody: boolean, handler: CallHandler) {
    this.connection = connection;
    this.#request = request;
    this.hasBody = hasBody;
    this.handler = handler;
  }

  get isSent(): boolean {
    return this.#request === undefined;
  }

  takeRequest(): readonly Buffer[] {
    const request = this.#request ?? [];
    // The request must not stay in memory during the response.
    this.#request = undefined;
    return request;
  }

  abort(reason: Error): void {
    this.connection.abort(this, reason);
  }

  pause(): void {
    this.connection.pause(this);
  }

  resume(): void {
    this.connection.resume(this);
  }

  onHead(status: number, headers: ResponseHeaders): void {
    this.handler.onResponseStart(this, status, headers);
  }

  onData(bytes: Buffer, start: number, end: number): void {
    // Joins the chunks of one read in place, over the chunk sizes between them.
    if (this.#chunkEnd === 0) this.#chunkStart = start;
    else bytes.copyWithin(this.#chunkEnd, start, end);
    this.#chunkEnd = this.#chunkEnd === 0 ? end : this.#chunkEnd + end - start;
  }

  onEnd(): void {
    // The connection checks for the end when the parser returns.
  }

  deliver(bytes: Buffer): void {
    const [start, end] = [this.#chunkStart, this.#chunkEnd];
    if (end === 0) return;
    this.#chunkEnd = 0;
    const chunk = Buffer.allocUnsafe(end - start);
    bytes.copy(chunk, 0, start, end);
    this.handler.onResponseData(this, chunk);
  }
}

function isIdleTimeout(bytes: Buffer): boolean {
  // Load balancers send a 408 before they close an idle connection.
  return /^HTTP\/1\.\d 408/.test(bytes.toString('latin1', 0, 12));
}

function isEmptyLines(bytes: Buffer): boolean {
  // Parsers skip empty lines between messages.
  return bytes.length <= 4 && bytes.every((byte) => byte === 0x0d || byte === 0x0a);
}

/** Returns the connection that failed with this error, or undefined if none was open yet. */
export function getFailedConnection(error: unknown): ConnectionUse | undefined {
  return error instanceof Error && 'socket' in error ? (error.socket as ConnectionUse) : undefined;
}

/**
 * Returns true if a connection that had served other requests received no bytes for the current one. If it failed, it had been closed while
 * idle; if it did not, the peer may have vanished.
 */
export function isUnanswered({ requests, bytesRead, bytesReadBefore }: ConnectionUse): boolean {
  return requests > 1 && bytesRead === bytesReadBefore;
}
