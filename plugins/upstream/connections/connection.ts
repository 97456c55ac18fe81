import type { Socket } from 'node:net';
import { lendBytes, reclaimBytes } from '#core/platform/memory/freed-bytes.ts';
import type { Connect } from './connector.ts';
import { ResponseParser, type ResponseHeaders, type ResponseSink } from './response-parser.ts';

interface ConnectionUse {
  readonly requests: number;
  /** Bytes received in total. */
  readonly bytesRead: number;
  readonly bytesBefore: number;
}

/** Controls one request. Has no effect once the response is complete. */
export interface CallControl {
  /** The connection that carries the request. */
  readonly connection?: ConnectionUse & { readonly isDestroyed: boolean };
  /** Closes the connection. */
  abort(reason: Error): void;
  /** Pauses reading the response. */
  pause(): void;
  resume(): void;
}

/** Receives the response to a request, in this order. An error may come at any time, and is the last call. */
export interface CallHandler {
  /** A connection is open; the request is sent unless this call aborts it. */
  onRequestStart(control: CallControl): void;
  onResponseStart(control: CallControl, status: number, headers: ResponseHeaders): void;
  onResponseData(control: CallControl, chunk: Buffer): void;
  onResponseEnd(control: CallControl): void;
  onResponseError(control: CallControl, error: Error): void;
}

export interface ConnectionOwner {
  /** The connection can take the next request. */
  onIdle(connection: Connection): void;
  onClosed(connection: Connection): void;
  /** The upstream sent a response without a request. */
  onSurplus(): void;
}

/** The upstream closed the connection. The code is undici's, as in other clients' errors. */
class ClosedError extends Error {
  readonly code = 'UND_ERR_SOCKET';

  constructor() {
    super('other side closed');
  }
}

const buffer = Buffer.allocUnsafeSlow(65_536); // shared: reads do not overlap

/**
 * A connection to an upstream, with one request at a time. Bytes received without a request are never taken for part of a response
 * ([decision 33](../../../docs/decisions/0033-between-an-upstream-and-the-parser.md)).
 */
export class Connection implements ConnectionUse {
  requests = 0;
  bytesRead = 0;
  bytesBefore = 0;
  /** `performance.now()`. */
  openedAt = performance.now();
  idleSince = this.openedAt;
  readonly #owner: ConnectionOwner;
  readonly #isReused: boolean;
  readonly #parser = new ResponseParser();
  readonly #socket: Socket;
  #isConnected = false;
  #isClosed = false;
  #isExecuting = false;
  #exchange: Exchange | undefined;
  #unread: Buffer | undefined;
  #hasEnded = false; // the upstream ended the stream, maybe with bytes still unread

  /**
   * Opens the connection.
   *
   * @param isReused false if it serves a single request
   */
  constructor(owner: ConnectionOwner, connect: Connect, isReused: boolean) {
    this.#owner = owner;
    this.#isReused = isReused;
    const onread = { buffer, callback: (count: number) => this.#receive(count) };
    this.#socket = connect(onread, (error) => {
      if (error === undefined) this.#begin();
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

  /**
   * Sends a request once the connection is open. The connection must be idle.
   *
   * @param hasBody false if the response has no body
   */
  send(request: readonly Buffer[], hasBody: boolean, handler: CallHandler): void {
    this.#exchange = new Exchange(this, request, hasBody, handler);
    if (this.#isConnected) this.#write(this.#exchange);
  }

  /**
   * Closes the connection.
   *
   * @param reason error for the running request
   */
  destroy(reason: Error = new Error('the connection is no longer needed')): void {
    this.#close(reason);
  }

  abort(exchange: Exchange, reason: Error): void {
    if (exchange !== this.#exchange) return;
    if (exchange.isSent) return this.#close(reason);
    // Nothing was sent, so the next request can use the connection.
    this.requests++;
    this.#exchange = undefined;
    this.#free(this.#isReused);
    exchange.handler.onResponseError(exchange, reason);
  }

  pause(exchange: Exchange): void {
    if (exchange !== this.#exchange) return;
    this.#parser.isPaused = true;
    this.#socket.pause();
  }

  resume(exchange: Exchange): void {
    if (exchange !== this.#exchange || !this.#parser.isPaused) return;
    this.#parser.isPaused = false;
    // If called from within the parser, the parser continues by itself.
    if (!this.#isExecuting) this.#readOn();
    if (!this.#parser.isPaused && !this.#isClosed) this.#socket.resume();
  }

  #readOn(): void {
    const [exchange, unread] = [this.#exchange, this.#unread];
    this.#unread = undefined;
    if (exchange !== undefined && unread !== undefined) this.#execute(exchange, unread, unread.length);
    if (this.#hasEnded && this.#unread === undefined) this.#end();
  }

  #begin(): void {
    if (this.#isClosed) return;
    this.#isConnected = true;
    this.openedAt = performance.now();
    this.#socket.on('end', () => this.#end());
    this.#socket.on('error', (error) => this.#break(error));
    this.#socket.on('close', () => {
      if (!this.#isClosed) this.#break(new ClosedError());
    });
    if (this.#exchange !== undefined) this.#write(this.#exchange);
  }

  #write(exchange: Exchange): void {
    try {
      exchange.handler.onRequestStart(exchange);
    } catch (error) {
      this.#close(error as Error);
    }
    if (exchange !== this.#exchange) return;
    this.requests++;
    this.bytesBefore = this.bytesRead;
    this.#parser.begin(exchange, exchange.hasBody);
    try {
      this.#send(exchange.takeRequest());
    } catch (error) {
      this.#close(error as Error);
    }
  }

  #send(request: readonly Buffer[]): void {
    const last = request.at(-1) as Buffer;
    if (request.length === 1) {
      this.#socket.write(last);
      return;
    }
    lendBytes(request);
    this.#socket.cork();
    for (const piece of request.slice(0, -1)) this.#socket.write(piece);
    // After an error, the bytes are left to the garbage collector.
    this.#socket.write(last, (error) => error ?? reclaimBytes(request));
    this.#socket.uncork();
  }

  #receive(count: number): boolean {
    this.bytesRead += count;
    if (this.#isClosed) return true;
    const exchange = this.#exchange;
    if (exchange?.isSent !== true) this.#handleSurplus(buffer.subarray(0, count));
    // TLS may have decrypted more than was requested.
    else if (this.#unread !== undefined) this.#unread = Buffer.concat([this.#unread, buffer.subarray(0, count)]);
    else this.#execute(exchange, buffer, count);
    // Returning false stops the socket; its `pause` has no effect while it starts to read.
    return !this.#parser.isPaused;
  }

  #execute(exchange: Exchange, bytes: Buffer, length: number): void {
    this.#isExecuting = true;
    let used = 0;
    try {
      used = this.#parser.execute(bytes, 0, length);
      exchange.deliver(bytes);
    } catch (error) {
      exchange.deliver(bytes);
      this.#break(error as Error);
    }
    this.#isExecuting = false;
    if (this.#isClosed) return;
    const rest = used < length ? bytes.subarray(used, length) : undefined;
    if (this.#parser.isIdle) this.#finish(rest);
    else if (rest !== undefined) this.#unread = bytes === buffer ? Buffer.from(rest) : rest;
  }

  #finish(surplus?: Buffer): void {
    const exchange = this.#exchange as Exchange;
    this.#exchange = undefined;
    // If the request is still being sent, the next one would be queued behind it.
    const isReusable = this.#parser.isReusable && this.#isReused && this.#socket.writableLength === 0;
    if (surplus !== undefined) this.#handleSurplus(surplus);
    this.#free(isReusable);
    exchange.handler.onResponseEnd(exchange);
  }

  #free(isReusable: boolean): void {
    if (this.#isClosed) return;
    if (!isReusable || this.#hasEnded) return this.#close();
    // The previous reader may have paused it.
    this.#parser.isPaused = false;
    if (this.#socket.isPaused()) this.#socket.resume();
    this.idleSince = performance.now();
    this.#owner.onIdle(this);
  }

  /** Handles bytes that belong to no request. */
  #handleSurplus(bytes: Buffer): void {
    if (isBlank(bytes)) return;
    if (!isIdleTimeout(bytes)) this.#owner.onSurplus();
    this.#close(new ClosedError());
  }

  #end(): void {
    this.#hasEnded = true;
    if (this.#unread !== undefined || this.#isClosed) return;
    if (this.#parser.close()) this.#finish();
    else this.#break(new ClosedError());
  }

  #break(error: Error): void {
    const { requests, bytesRead, bytesBefore } = this;
    this.#close(Object.assign(error, { socket: { requests, bytesRead, bytesBefore } }));
  }

  #close(error?: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // Stops the parser: the remaining bytes are dropped.
    this.#parser.isPaused = true;
    this.#unread = undefined;
    this.#socket.destroy();
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.#owner.onClosed(this);
    if (error !== undefined) exchange?.handler.onResponseError(exchange, error);
  }
}

class Exchange implements CallControl, ResponseSink {
  readonly connection: Connection;
  readonly hasBody: boolean;
  readonly handler: CallHandler;
  #request: readonly Buffer[] | undefined;
  #from = 0;
  #to = 0;

  constructor(connection: Connection, request: readonly Buffer[], hasBody: boolean, handler: CallHandler) {
    this.connection = connection;
    this.#request = request;
    this.hasBody = hasBody;
    this.handler = handler;
  }

  get isSent(): boolean {
    return this.#request === undefined;
  }

  /** Returns the request to send, which is not kept during the response. */
  takeRequest(): readonly Buffer[] {
    const request = this.#request ?? [];
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

  head(status: number, headers: ResponseHeaders): void {
    this.handler.onResponseStart(this, status, headers);
  }

  /** Moves the chunks of one read together, over the chunk sizes between them, to deliver them at once. */
  data(bytes: Buffer, start: number, end: number): void {
    if (this.#to === 0) this.#from = start;
    else bytes.copyWithin(this.#to, start, end);
    this.#to = this.#to === 0 ? end : this.#to + end - start;
  }

  end(): void {
    // The connection checks for the end after the parser returned.
  }

  deliver(bytes: Buffer): void {
    const [from, to] = [this.#from, this.#to];
    if (to === 0) return;
    this.#to = 0;
    const chunk = Buffer.allocUnsafe(to - from);
    bytes.copy(chunk, 0, from, to);
    this.handler.onResponseData(this, chunk);
  }
}

/** Load balancers send a 408 before they close an idle connection. */
function isIdleTimeout(bytes: Buffer): boolean {
  return /^HTTP\/1\.\d 408/.test(bytes.toString('latin1', 0, 12));
}

/** True for empty lines, which parsers ignore between messages. */
function isBlank(bytes: Buffer): boolean {
  return bytes.length <= 4 && bytes.every((byte) => byte === 0x0d || byte === 0x0a);
}

/** Returns the connection that broke with this error; undefined if none was open yet. */
export function brokenConnection(error: unknown): ConnectionUse | undefined {
  return error instanceof Error && 'socket' in error ? (error.socket as ConnectionUse) : undefined;
}

/**
 * Returns true if a connection that served earlier requests received nothing for the current one. If it broke, it was closed while idle; if
 * not, the other side may have vanished.
 */
export function isUnanswered({ requests, bytesRead, bytesBefore }: ConnectionUse): boolean {
  return requests > 1 && bytesRead === bytesBefore;
}
