import { lookup } from 'node:dns/promises';
import type { Server } from 'node:http';
import net, { type AddressInfo, createServer, type Server as TcpServer } from 'node:net';

/*
 * libuv accepts one connection per listening socket in each turn of the event loop. A few hundred new connections a second would
 * fill the accept queue of a single socket. The system then drops the packets of further clients, which retry after 1, 3, 7 and
 * 15 s. Therefore several sockets share the port, each with its own queue.
 */

const socketCount = process.platform === 'linux' ? 8 : 1;
const sharesPort = socketCount > 1;

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Sockets bound by another process and shared by several processes. */
export interface InheritedSockets {
  readonly descriptors: readonly number[]; // file descriptors of this process
}

const noIpv6Errors = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EPROTONOSUPPORT']); // for `::`

/**
 * Replaces `::`, all addresses of both families, with `0.0.0.0` if the machine has no IPv6.
 *
 * @param tryAddress rejects if no socket can be bound to the address
 */
export async function resolveListenAddress(
  host: string,
  tryAddress: (host: string) => Promise<void> = (address) => requireFreePort(0, address),
): Promise<string> {
  if (host !== '::') return host;
  try {
    await tryAddress(host);
    return host;
  } catch (error) {
    if (!noIpv6Errors.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return '0.0.0.0';
  }
}

/**
 * Listens on a port, with several sockets if the system supports that, or on sockets of another process.
 *
 * @param onError called for later failures to accept a connection
 * @returns a function that stops accepting; unlike `close`, it leaves idle connections open
 * @throws Error if the port is in use or not permitted
 */
export async function listenOnSockets(
  listener: Server,
  target: ListenAddress | InheritedSockets,
  onError: (error: Error) => void,
): Promise<() => void> {
  const count = 'descriptors' in target ? target.descriptors.length : socketCount;
  // Same options as Node's HTTP server.
  const siblings = Array.from({ length: count - 1 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => listener.emit('connection', socket)),
  );
  closeTogether(listener, siblings);
  try {
    if ('descriptors' in target) {
      for (const [index, server] of [listener, ...siblings].entries())
        await listenOn(server, { fd: target.descriptors[index] as number }, onError);
    } else {
      const { port } = target;
      const host = await resolveListenAddress(target.host);
      if (sharesPort && port !== 0) await requireFreePort(port, host);
      const options = { host, reusePort: sharesPort };
      await listenOn(listener, { ...options, port }, onError);
      const siblingOptions = { ...options, port: (listener.address() as AddressInfo).port };
      for (const sibling of siblings) await listenOn(sibling, siblingOptions, onError);
    }
  } catch (error) {
    listener.close();
    throw error;
  }
  return () => {
    for (const server of [listener, ...siblings]) net.Server.prototype.close.call(server);
  };
}

/** A bound socket that does not listen. Available since Node.js 24.21 and 26.4. */
export type BoundSocket = net.BoundSocket;

/**
 * Binds a port's sockets, on which other processes will listen. A socket stays open as long as any process has it open, so when one process
 * ends, the others accept the connections queued for it.
 *
 * @throws Error if the port is in use or not permitted
 */
export async function bindSockets(listenAddress: ListenAddress): Promise<BoundSocket[]> {
  let { port } = listenAddress;
  const host = await resolveListenAddress(listenAddress.host);
  if (sharesPort && port !== 0) await requireFreePort(port, host);
  const { address } = await lookup(host);
  const sockets: BoundSocket[] = [];
  try {
    while (sockets.length < socketCount) {
      const socket = new net.BoundSocket({ host: address, port, reusePort: sharesPort });
      sockets.push(socket);
      port = socket.address().port; // the port that the system chose for 0
    }
    return sockets;
  } catch (error) {
    for (const socket of sockets) socket.close();
    throw error;
  }
}

async function requireFreePort(port: number, host: string): Promise<void> {
  // An exclusive socket: sockets that share a port would share it with another process too.
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

function closeTogether(listener: Server, siblings: readonly TcpServer[]): void {
  const close = listener.close.bind(listener);
  listener.close = (done) => {
    let openCount = siblings.length + 1;
    let failure: Error | undefined;
    const onClosed = (error?: Error) => {
      failure ??= error;
      openCount--;
      if (openCount === 0) done?.(failure);
    };
    for (const sibling of siblings) sibling.close(onClosed);
    return close(onClosed);
  };
}
