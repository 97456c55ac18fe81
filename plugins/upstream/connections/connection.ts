import type { Socket } from 'node:net';
import { lendBytes, reclaimBytes } from '#core/platform/memory/freed-bytes.ts';
import type { Connect } from './connector.ts';
import { ResponseParser, type ResponseHeaders, type ResponseSink } from './response-parser.ts';

interface ConnectionUse {
  readonly requests: number;
  /** Bytes received, in total and before the current request. */
  readonly bytesRead: number;
  readonly bytesBefore: number;
}

/** Controls one request; without effect once its response is complete. */
export interface CallControl {
  /** The connection that it is sent on. */
  readonly connection?: ConnectionUse & { readonly isDestroyed: boolean };
  /** Closes the connection. */
  abort(reason: Error): void;
  /** Stops and restarts the bytes of the response. */
  pause(): void;
  resume(): void;
}

/** Called with the response to a request, in this order; an error may come at any time, and is the last. */
export interface CallHandler {
  /** A connection is open, and the request is sent unless this aborts it. */
  onRequestStart(control: CallControl): void;
  onResponseStart(control: CallControl, status: number, headers: ResponseHeaders): void;
  onResponseData(control: CallControl, chunk: Buffer): void;
  onResponseEnd(control: CallControl): void;
  onResponseError(control: CallControl, error: Error): void;
}

/** Events of a connection for its pool. */
export interface ConnectionOwner {
  /** It can take the next request. */
  onIdle(connection: Connection): void;
  onClosed(connection: Connection): void;
  /** The upstream sends an answer that no request asked for. */
  onSurplus(): void;
}

/** The upstream has closed a connection. The code is undici's, as in other clients' errors. */
class ClosedError extends Error {
  readonly code = 'UND_ERR_SOCKET';

  constructor() {
    super('other side closed');
  }
}

const buffer = Buffer.allocUnsafeSlow(65_536); // shared: reads do not overlap

/**
 * A connection to an upstream, with one request at a time. Bytes that no request asked for are never taken for a part of a response
 * ([decision 33](../../../docs/decisions/0033-between-an-upstream-and-the-parser.md)).
 */
export class Connection implements ConnectionUse {
  requests = 0;
  bytesRead = 0;
  bytesBefore = 0;
  /** Times of performance.now(). */
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
  #hasEnded = false; // while bytes were unread

  /** Opens the connection. @param isReused false when it serves one request */
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

  /** The upstream's announced idle timeout in seconds. */
  get idleSeconds(): number | undefined {
    return this.#parser.idleSeconds;
  }

  /** Sends a request once the connection is open. It must be idle. @param hasBody false when its response has none */
  send(request: readonly Buffer[], hasBody: boolean, handler: CallHandler): void {
    this.#exchange = new Exchange(this, request, hasBody, handler);
    if (this.#isConnected) this.#write(this.#exchange);
  }

  /** Closes the connection. @param reason error for the running request */
  destroy(reason: Error = new Error('the connection is no longer needed')): void {
    this.#close(reason);
  }

  abort(exchange: Exchange, reason: Error): void {
    if (exchange !== this.#exchange) return;
    if (exchange.isSent) return this.#close(reason);
    // The next request can use the connection, which has been idle then.
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
    // Called from within the parser, which continues by itself.
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
    // After an error, they are left to the collection of garbage.
    this.#socket.write(last, (error) => error ?? reclaimBytes(request));
    this.#socket.uncork();
  }

  #receive(count: number): boolean {
    this.bytesRead += count;
    if (this.#isClosed) return true;
    const exchange = this.#exchange;
    if (exchange?.isSent !== true) this.#handleSurplus(buffer.subarray(0, count));
    // TLS may have decrypted more than was asked for.
    else if (this.#unread !== undefined) this.#unread = Buffer.concat([this.#unread, buffer.subarray(0, count)]);
    else this.#execute(exchange, buffer, count);
    // False stops the socket, whose `pause` has no effect while it starts to read.
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
    // A request that is still being sent would be followed by the next one.
    const isReusable = this.#parser.isReusable && this.#isReused && this.#socket.writableLength === 0;
    if (surplus !== undefined) this.#handleSurplus(surplus);
    this.#free(isReusable);
    exchange.handler.onResponseEnd(exchange);
  }

  #free(isReusable: boolean): void {
    if (this.#isClosed) return;
    if (!isReusable || this.#hasEnded) return this.#close();
    // Its last reader may have paused it.
    this.#parser.isPaused = false;
    if (this.#socket.isPaused()) this.#socket.resume();
    this.idleSince = performance.now();
    this.#owner.onIdle(this);
  }

  /** Bytes that belong to no request. */
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
    // No more of the bytes that were read.
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

  /** Hands over the request to send; it is not kept during the response. */
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

  /** Compacts the chunks of one read over the sizes between them, to deliver them at once. */
  data(bytes: Buffer, start: number, end: number): void {
    if (this.#to === 0) this.#from = start;
    else bytes.copyWithin(this.#to, start, end);
    this.#to = this.#to === 0 ? end : this.#to + end - start;
  }

  end(): void {
    // The connection looks for the end when the parser has returned.
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

/** Empty lines, which parsers ignore between messages. */
function isBlank(bytes: Buffer): boolean {
  return bytes.length <= 4 && bytes.every((byte) => byte === 0x0d || byte === 0x0a);
}

/** The connection that an error broke; undefined when none was open yet. */
export function brokenConnection(error: unknown): ConnectionUse | undefined {
  return error instanceof Error && 'socket' in error ? (error.socket as ConnectionUse) : undefined;
}

/**
 * True when a connection that has served requests before has brought nothing for the current one. If it broke, it was closed
 * while idle; if not, its other side may have vanished.
 */
export function isUnanswered({ requests, bytesRead, bytesBefore }: ConnectionUse): boolean {
  return requests > 1 && bytesRead === bytesBefore;
}
