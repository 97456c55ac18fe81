import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { LagTolerantTimer } from '#core/timing/lag-tolerant-timer.ts';
import { undici } from './undici.ts';

/** A connection to an upstream, as the request on it sees it. */
export interface UpstreamConnection {
  /** Requests that have gone out on it, the current one included. */
  readonly requests: number;
  /** Bytes received, in all and before the current request. */
  readonly bytesRead: number;
  readonly bytesBefore: number;
}

/** Ms without traffic after which the system asks whether the other side is there, how often, and how many times. */
const keepAlive = { initialDelay: 10_000, interval: 5_000, count: 3 };

/**
 * Opens HTTP/1.1 connections ([decision 18](../../../docs/decisions/0018-http-1-to-upstreams.md)). Their errors carry what
 * they had received, which distinguishes a connection that was closed while idle from one on which an answer had begun.
 *
 * While an upstream thinks, the system probes the connection: one whose other side has vanished fails after 25 s.
 *
 * @param timeout seconds
 */
export function createConnector(timeout: number): buildConnector.connector {
  const { buildConnector, errors } = undici();
  const connect = buildConnector({ timeout: 0, allowH2: false, keepAlive: false }) as Connect;
  return (options, callback) => {
    const timer = new LagTolerantTimer(() => opening.destroy(new errors.ConnectTimeoutError()));
    const opening = connect(options, (...result) => {
      timer.stop();
      const [, socket] = result;
      if (socket !== null && socket !== undefined) watch(socket);
      callback(...result);
    });
    timer.start(timeout * 1000);
  };
}

/** As undici's types leave out, a connector returns the socket that it opens. */
type Connect = (...parameters: Parameters<buildConnector.connector>) => Socket;

/** Callback for the connection on which the next request is written. */
let awaitsConnection: ((connection: UpstreamConnection) => void) | undefined;

/**
 * Reports the connection of a request. undici does not expose it, but writes a request at once after `onRequestStart`,
 * which must call this.
 */
export function reportConnection(report: (connection: UpstreamConnection) => void): void {
  awaitsConnection = report;
}

class WatchedConnection implements UpstreamConnection {
  requests = 0;
  bytesBefore = 0;
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  begin(): void {
    this.requests++;
    this.bytesBefore = this.#socket.bytesRead;
    awaitsConnection?.(this);
    awaitsConnection = undefined;
  }
}

function watch(socket: Socket): void {
  const connection = new WatchedConnection(socket);
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  socket.setKeepAlive(true, keepAlive.initialDelay, keepAlive.interval, keepAlive.count);
  socket.write = (...args: unknown[]) => {
    // Head and body are written one after the other.
    if (awaitsConnection !== undefined) connection.begin();
    return write(...args);
  };
  socket.once('error', (error) => {
    const { requests, bytesRead, bytesBefore } = connection;
    Object.assign(error, { socket: { requests, bytesRead, bytesBefore } });
  });
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
