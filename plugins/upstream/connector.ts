import { buildConnector } from 'undici';

/** What undici says of a connection in the errors that it makes itself. */
interface SocketInfo {
  readonly bytesRead: number;
}

/**
 * Opens connections whose errors tell how much had come over them, those of the system as well. That tells a connection
 * that was closed while idle from a new one that was never answered on.
 *
 * @param timeout seconds
 */
export function createConnector(timeout: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeout * 1000 });
  return (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result;
      socket?.once('error', (error) => {
        if (socketOf(error) === undefined) Object.assign(error, { socket: { bytesRead: socket.bytesRead } });
      });
      callback(...result);
    });
}

/** What an error says of the connection that it broke; undefined when there was none yet. */
export function socketOf(error: unknown): SocketInfo | undefined {
  return error instanceof Error && 'socket' in error ? (error.socket as SocketInfo) : undefined;
}
