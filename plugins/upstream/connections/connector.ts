import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expireName } from '#core/platform/names/install.ts';
import { NameError } from '#core/platform/names/names.ts';
import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';

/** TCP keep-alive: ms until the first probe, ms between probes, and their number. */
const keepAlive = { initialDelay: 10_000, interval: 5_000, count: 3 };

/** The connection was not open in time. The code is undici's, which other modules expect. */
class ConnectTimeoutError extends Error {
  readonly code = 'UND_ERR_CONNECT_TIMEOUT';

  constructor() {
    super('Connect Timeout Error');
  }
}

/** Opens a connection, and calls `report` once, with or without an error. */
export type Connect = (onread: OnReadOpts, report: (error?: Error) => void) => Socket;

/**
 * Opens HTTP/1.1 connections ([decision 18](../../../docs/decisions/0018-http-1-to-upstreams.md)).
 *
 * The operating system probes idle connections: if the other side vanished, the connection fails after 25 s.
 *
 * @param timeout seconds
 * @param serverName name that TLS requests and verifies, if it differs from the origin's host
 */
export function createConnector(origin: string, timeout: number, serverName?: string): Connect {
  const { protocol, hostname: named, port } = new URL(origin);
  const hostname = named.replace(/^\[|\]$/g, '');
  const isAddress = isIP(hostname) !== 0;
  const isTls = protocol === 'https:';
  const servername = serverName ?? (isAddress ? undefined : hostname);
  let session: Buffer | undefined;
  return (onread, report) => {
    let isResolved = isAddress;
    let isReported = false;
    const finish = (error?: Error) => {
      if (isReported) return;
      isReported = true;
      timer.stop();
      if (error !== undefined) expireName(hostname);
      report(error);
    };
    const timer = new LagTolerantTimer(() =>
      socket.destroy(isResolved ? new ConnectTimeoutError() : new NameError(hostname)),
    );
    const address = { host: hostname, port: Number(port) || (isTls ? 443 : 80), noDelay: true, onread };
    const socket = isTls
      ? connectTls({
          ...address,
          ALPNProtocols: ['http/1.1'],
          ...(servername !== undefined && { servername }),
          ...(session !== undefined && { session }),
        }).on('session', (given) => (session = given))
      : connectTcp(address);
    socket.once('lookup', (error) => (isResolved = error === null));
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      socket.setKeepAlive(true, keepAlive.initialDelay, keepAlive.interval, keepAlive.count);
      finish();
    });
    // Also handles errors of a socket without listeners.
    socket.on('error', finish);
    socket.once('close', () => {
      if (!isReported) finish(new Error('closed before it was open'));
    });
    timer.start(timeout * 1000);
    return socket;
  };
}
