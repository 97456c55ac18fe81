import type { Server } from 'node:http';
import { type AddressInfo, createServer, type ListenOptions, type Server as TcpServer } from 'node:net';

/*
 * libuv accepts one connection of a listening socket in each turn of the event loop. Strangers who open some hundred
 * connections a second would fill the queue of a single socket, and the system would let all others wait for seconds: it
 * drops their packets, and they come again after 1, 3, 7 and 15 s. So several sockets share the port, each with a queue.
 */

/** Sockets that share the port, and so connections that are accepted in a turn. */
const sockets = 8;

/**
 * Listens on a port with several sockets, where the system can do that.
 *
 * @param onError called with later failures, of a connection that could not be accepted
 * @throws Error when the port is in use or not allowed
 */
export async function listenWidely(
  listener: Server,
  { port, host }: { readonly port: number; readonly host: string },
  onError: (error: Error) => void,
): Promise<void> {
  const isShared = process.platform === 'linux';
  if (isShared && port !== 0) await checkPort(port, host);
  // As Node's HTTP server has them.
  const others = Array.from({ length: isShared ? sockets - 1 : 0 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => listener.emit('connection', socket)),
  );
  closeTogether(listener, others);
  try {
    const options = { host, reusePort: isShared };
    await listenOn(listener, { ...options, port }, onError);
    const own = { ...options, port: (listener.address() as AddressInfo).port };
    for (const other of others) await listenOn(other, own, onError);
  } catch (error) {
    listener.close();
    throw error;
  }
}

/** Sockets that share a port do not notice another process that shares it too: one that does not share it does. */
async function checkPort(port: number, host: string): Promise<void> {
  const probe = createServer();
  await listenOn(probe, { port, host }, () => undefined);
  await new Promise((resolve) => probe.close(resolve));
}

async function listenOn(server: TcpServer, options: ListenOptions, onError: (error: Error) => void): Promise<void> {
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
