import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const checksPerTimeout = 8;

/** Node's view of bytes the system has not accepted yet. Its own socket timeout reads the same, but restarts with every write. */
interface SystemQueue {
  readonly bytesWritten: number; // queued ones included
  readonly writeQueueSize: number;
}

/**
 * Calls `onStalled` once the system has taken none of the bytes that wait for a client for this long. Writes are no progress: a
 * stream and its keep-alives may fill buffers for hours. One byte of a chunk is. Ends with the response.
 *
 * @param seconds without progress, up to an eighth more
 */
export function watchClient(response: ServerResponse, seconds: number, onStalled: () => void): void {
  let taken = 0;
  let idle = 0;
  const timer = setInterval(
    () => {
      const now = bytesTaken(response.socket);
      if (now === undefined || now !== taken) {
        taken = now ?? 0;
        idle = 0;
        return;
      }
      if (++idle < checksPerTimeout) return;
      // Reads by the client while the loop was blocked are noticed in this turn.
      setImmediate(() => {
        if (bytesTaken(response.socket) === taken) onStalled();
        else idle = 0;
      });
    },
    (seconds * 1000) / checksPerTimeout,
  );
  response.once('close', () => clearInterval(timer));
}

/** True when the system has taken all of a response that has ended. It takes nothing of one behind another on its connection. */
export function isTaken(response: ServerResponse): boolean {
  return response.writableEnded && response.socket !== null && bytesTaken(response.socket) === undefined;
}

/** Bytes that the system has taken from this connection so far; undefined while it has taken all of them. */
export function bytesTaken(socket: Socket | null): number | undefined {
  const { _handle: queue } = (socket ?? {}) as Socket & { _handle?: SystemQueue | null };
  if (queue === undefined || queue === null || queue.writeQueueSize === 0) return undefined;
  return queue.bytesWritten - queue.writeQueueSize;
}
