import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/** The bytes that a broken connection had received. */
interface BrokenConnection {
  readonly bytesRead: number;
  /** Those before the last request went out; undefined over HTTP/2, where answers are interleaved. */
  readonly bytesBefore?: number | undefined;
}

/**
 * Opens connections whose errors carry the bytes received, in all and before the current request. The two distinguish a
 * connection that was closed while idle from one on which an answer had begun.
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

/** undici does not expose the connection of a request, and writes a request at once. */
function watch(socket: Socket): void {
  let bytesBefore: number | undefined;
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  socket.write = (...args: unknown[]) => {
    bytesBefore = socket.bytesRead;
    return write(...args);
  };
  socket.once('error', (error) => Object.assign(error, { socket: { bytesRead: socket.bytesRead, bytesBefore } }));
}

/** The connection that an error broke; undefined when none was open yet. */
export function brokenConnection(error: unknown): BrokenConnection | undefined {
  return error instanceof Error && 'socket' in error ? (error.socket as BrokenConnection) : undefined;
}

/** True when the connection had received answers, but nothing since the request went out: it was closed while idle. */
export function isStale({ bytesRead, bytesBefore = bytesRead }: BrokenConnection): boolean {
  return bytesRead > 0 && bytesRead === bytesBefore;
}
