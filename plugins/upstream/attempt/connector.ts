import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/** What came over a connection that broke. */
interface BrokenConnection {
  readonly bytesRead: number;
  /** How much of it before the last request went out; undefined over HTTP/2, where answers mingle. */
  readonly bytesBefore?: number | undefined;
}

/**
 * Opens connections whose errors tell how much had come over them, and how much of it before the request that they were
 * at. That tells a connection that was closed while idle from one on which an answer had begun.
 *
 * @param timeout seconds
 */
export function createConnector(timeout: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeout * 1000 });
  return (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result;
      if (socket !== null && socket !== undefined) watch(socket);
      callback(...result);
    });
}

/** undici tells nobody which connection a request goes out on, and writes it in one go. */
function watch(socket: Socket): void {
  let bytesBefore: number | undefined;
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  socket.write = (...args: unknown[]) => {
    bytesBefore = socket.bytesRead;
    return write(...args);
  };
  socket.once('error', (error) => Object.assign(error, { socket: { bytesRead: socket.bytesRead, bytesBefore } }));
}

/** What an error says of the connection that it broke; undefined when there was none yet. */
export function brokenConnection(error: unknown): BrokenConnection | undefined {
  return error instanceof Error && 'socket' in error ? (error.socket as BrokenConnection) : undefined;
}

/** True when the connection had brought answers, and nothing since the request went out: it was closed while idle. */
export function isStale({ bytesRead, bytesBefore = bytesRead }: BrokenConnection): boolean {
  return bytesRead > 0 && bytesRead === bytesBefore;
}
