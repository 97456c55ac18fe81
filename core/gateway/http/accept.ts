import { lookup } from 'node:dns/promises';
import type { Server } from 'node:http';
import net, { type AddressInfo, createServer, type Server as TcpServer } from 'node:net';

/*
 * libuv accepts one connection of a listening socket in each turn of the event loop. Strangers who open some hundred
 * connections a second would fill the queue of a single socket, and the system would let all others wait for seconds: it
 * drops their packets, and they come again after 1, 3, 7 and 15 s. So several sockets share the port, each with a queue.
 */

/** Number of sockets, and of connections accepted per turn. */
const socketCount = process.platform === 'linux' ? 8 : 1;
const isShared = socketCount > 1;

export interface ListenPlace {
  readonly host: string;
  readonly port: number;
}

/** Sockets bound by another process, from which several processes accept: their descriptors in this process. */
export interface GivenSockets {
  readonly descriptors: readonly number[];
}

const withoutIpv6 = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EPROTONOSUPPORT']); // errors of `::`

/**
 * Address to listen on. `::`, all addresses of both families, becomes `0.0.0.0` if the machine has no IPv6.
 *
 * @param tryAddress rejects if no socket can be bound to the address
 */
export async function usableAddress(
  host: string,
  tryAddress: (host: string) => Promise<void> = (address) => checkPort(0, address),
): Promise<string> {
  if (host !== '::') return host;
  try {
    await tryAddress(host);
    return host;
  } catch (error) {
    if (!withoutIpv6.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return '0.0.0.0';
  }
}

/**
 * Listens on a port with several sockets, if the system supports that, or on given sockets.
 *
 * @param onError called for later failures to accept a connection
 * @returns a function that stops accepting; unlike `close`, it leaves idle connections open
 * @throws Error if the port is in use or not permitted
 */
export async function listenWidely(
  listener: Server,
  place: ListenPlace | GivenSockets,
  onError: (error: Error) => void,
): Promise<() => void> {
  const count = 'descriptors' in place ? place.descriptors.length : socketCount;
  // Same options as Node's HTTP server.
  const others = Array.from({ length: count - 1 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => listener.emit('connection', socket)),
  );
  closeTogether(listener, others);
  try {
    if ('descriptors' in place) {
      for (const [index, server] of [listener, ...others].entries())
        await listenOn(server, { fd: place.descriptors[index] as number }, onError);
    } else {
      const { port } = place;
      const host = await usableAddress(place.host);
      if (isShared && port !== 0) await checkPort(port, host);
      const options = { host, reusePort: isShared };
      await listenOn(listener, { ...options, port }, onError);
      const own = { ...options, port: (listener.address() as AddressInfo).port };
      for (const other of others) await listenOn(other, own, onError);
    }
  } catch (error) {
    listener.close();
    throw error;
  }
  return () => {
    for (const server of [listener, ...others]) net.Server.prototype.close.call(server);
  };
}

/** A bound socket that does not listen; from Node.js 26.4 on, and in 24.21. */
export type BoundSocket = net.BoundSocket;

/**
 * Binds the sockets of a port for processes that will listen on them. They exist while any process holds them open: connections queued
 * when a process ends are accepted by the others.
 *
 * @throws Error if the port is in use or not permitted
 */
export async function bindWidely({ host: wanted, port }: ListenPlace): Promise<BoundSocket[]> {
  const host = await usableAddress(wanted);
  if (isShared && port !== 0) await checkPort(port, host);
  const { address } = await lookup(host);
  const bound: BoundSocket[] = [];
  try {
    for (let own = port; bound.length < socketCount; own = bound[0]?.address().port ?? port)
      bound.push(new net.BoundSocket({ host: address, port: own, reusePort: isShared }));
    return bound;
  } catch (error) {
    for (const socket of bound) socket.close();
    throw error;
  }
}

/** Binds an exclusive socket first, because sockets that share a port do not notice another process sharing it. */
async function checkPort(port: number, host: string): Promise<void> {
  const probe = createServer();
  await listenOn(probe, { port, host }, () => undefined);
  await new Promise((resolve) => probe.close(resolve));
}

async function listenOn(
  server: TcpServer,
  options: net.ListenOptions | { readonly fd: number },
  onError: (error: Error) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.on('error', (error) => (server.listening ? onError(error) : reject(error)));
  server.listen(options, resolve);
  await promise;
}

/** Makes closing the first close all; its callback waits for the connections of all. */
function closeTogether(listener: Server, others: readonly TcpServer[]): void {
  const close = listener.close.bind(listener);
  listener.close = (done) => {
    let open = others.length + 1;
    let failure: Error | undefined;
    const onClosed = (error?: Error) => {
      failure ??= error;
      if (--open === 0) done?.(failure);
    };
    for (const other of others) other.close(onClosed);
    return close(onClosed);
  };
}
