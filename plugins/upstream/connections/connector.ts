import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expireName } from '#core/platform/names/install.ts';
import { NameError } from '#core/platform/names/name-cache.ts';
import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';

const keepAlive = { initialDelayMs: 10_000, intervalMs: 5_000, probes: 3 };

class ConnectTimeoutError extends Error {
  readonly code = 'UND_ERR_CONNECT_TIMEOUT'; // undici's, which other modules expect

  constructor() {
    super('Connect Timeout Error');
  }
}

/** Opens a connection and calls `report` once, with an error if it failed. */
export type Connect = (onread: OnReadOpts, report: (error?: Error) => void) => Socket;

/**
 * Creates a function that opens HTTP/1.1 connections ([decision 18](../../../docs/decisions/0018-http-1-to-upstreams.md)).
 *
 * The operating system probes idle connections. If the peer has vanished, the connection fails after 25 s.
 *
 * @param timeout seconds
 * @param serverName name to request and verify in TLS, if it differs from the host of the origin
 */
export function createConnector(origin: string, timeout: number, serverName?: string): Connect {
  const { protocol, hostname: urlHostname, port } = new URL(origin);
  const hostname = urlHostname.replace(/^\[|\]$/g, '');
  const isAddress = isIP(hostname) !== 0;
  const isTls = protocol === 'https:';
  const tlsName = serverName ?? (isAddress ? undefined : hostname);
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
          ...(tlsName !== undefined && { servername: tlsName }),
          ...(session !== undefined && { session }),
        }).on('session', (ticket) => (session = ticket))
      : connectTcp(address);
    socket.once('lookup', (error) => (isResolved = error === null));
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      socket.setKeepAlive(true, keepAlive.initialDelayMs, keepAlive.intervalMs, keepAlive.probes);
      finish();
    });
    // The listener also prevents later errors from being thrown.
    socket.on('error', finish);
    socket.once('close', () => {
      if (!isReported) finish(new Error('closed before it was open'));
    });
    timer.start(timeout * 1000);
    return socket;
  };
}
