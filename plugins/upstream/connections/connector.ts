import { createRequire } from 'node:module';
import { isIP, type Socket } from 'node:net';
import type * as Undici from 'undici';
import type { buildConnector } from 'undici';
import { doubtName } from '#core/platform/names/install.ts';
import { NameError } from '#core/platform/names/names.ts';
import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';
import { WatchedConnection } from './connection.ts';

const require = createRequire(import.meta.url);

/** undici, loaded by the first call: commands such as `check` define the stage and open no connection. */
export function undici(): typeof Undici {
  return require('undici') as typeof Undici;
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
 * @param onSurplus the upstream has sent an answer that no request asked for
 */
export function createConnector(timeout: number, onSurplus: () => void): buildConnector.connector {
  const { buildConnector, errors } = undici();
  const connect = buildConnector({ timeout: 0, allowH2: false, keepAlive: false }) as Connect;
  return (options, callback) => {
    const { hostname } = options;
    let isResolved = isIP(hostname) !== 0;
    const timer = new LagTolerantTimer(() =>
      opening.destroy(isResolved ? new errors.ConnectTimeoutError() : new NameError(hostname)),
    );
    const opening = connect(options, (...result) => {
      timer.stop();
      const [error, socket] = result;
      if (error !== null) doubtName(hostname);
      if (socket !== null && socket !== undefined) watch(socket, onSurplus);
      callback(...result);
    });
    opening.once('lookup', (error) => (isResolved = error === null));
    timer.start(timeout * 1000);
  };
}

/** A connector returns the socket that it opens, which undici's types omit. */
type Connect = (...parameters: Parameters<buildConnector.connector>) => Socket;

function watch(socket: Socket, onSurplus: () => void): void {
  const connection = new WatchedConnection(socket, onSurplus);
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  const unshift = socket.unshift.bind(socket) as (chunk: Buffer) => void;
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  socket.setKeepAlive(true, keepAlive.initialDelay, keepAlive.interval, keepAlive.count);
  socket.read = (size?: number) => {
    for (;;) {
      const chunk = read(size);
      const passed = chunk === null ? null : connection.receive(chunk);
      if (passed !== undefined) return passed;
    }
  };
  socket.unshift = (chunk: Buffer) => {
    connection.return(chunk.length);
    unshift(chunk);
  };
  socket.write = (...args: unknown[]) => {
    // Head and body are written one after the other.
    if (WatchedConnection.isRequestDue) connection.begin();
    return write(...args);
  };
  socket.once('error', (error) => connection.fail(error));
}
