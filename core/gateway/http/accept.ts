import { lookup } from 'node:dns/promises';
import type { Server } from 'node:http';
import net, { type AddressInfo, createServer, type Server as TcpServer } from 'node:net';

/*
 * libuv accepts one connection of a listening socket in each turn of the event loop. Strangers who open some hundred
 * connections a second would fill the queue of a single socket, and the system would let all others wait for seconds: it
 * drops their packets, and they come again after 1, 3, 7 and 15 s. So several sockets share the port, each with a queue.
 */

/** Also the number of connections accepted per turn. */
const socketCount = process.platform === 'linux' ? 8 : 1;
const isShared = socketCount > 1;

export interface ListenPlace {
  readonly host: string;
  readonly port: number;
}

/** Sockets that another process has bound, and that several processes accept from: their descriptors in this one. */
export interface GivenSockets {
  readonly descriptors: readonly number[];
}

const withoutIpv6 = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EPROTONOSUPPORT']); // errors of `::`

/**
 * The address to listen on: `::`, all addresses of both families, is `0.0.0.0` where the machine has no IPv6.
 *
 * @param tryAddress rejects where no socket can be bound to it
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
 * Listens on a port with several sockets, where the system can do that, or on given ones.
 *
 * @param onError called with later failures, of a connection that could not be accepted
 * @returns ends the accepting alone: unlike `close`, it leaves idle connections open
 * @throws Error when the port is in use or not allowed
 */
export async function listenWidely(
  listener: Server,
  place: ListenPlace | GivenSockets,
  onError: (error: Error) => void,
): Promise<() => void> {
  const count = 'descriptors' in place ? place.descriptors.length : socketCount;
  // As Node's HTTP server has them.
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

/** A socket that is bound and does not listen, from Node.js 26.4 on, and in 24.21. */
export type BoundSocket = net.BoundSocket;

/**
 * Binds the sockets of a port for processes that listen on them. They stay as long as one process has them open: what waits in
 * their queues when a process ends is accepted by the others.
 *
 * @throws Error when the port is in use or not allowed
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

/** Sockets that share a port do not notice another process that shares it too; an exclusive one does. */
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

/** All stop listening with the first, whose callback waits for the connections of all. */
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
