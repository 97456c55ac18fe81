import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const checksPerTimeout = 8;

/** Node's view of bytes that the system has not accepted yet. Node's socket timeout uses the same value, but restarts with every write. */
interface SystemQueue {
  readonly bytesWritten: number; // includes queued bytes
  readonly writeQueueSize: number;
}

/**
 * Calls `onStalled` once the system has accepted none of the bytes waiting for a client for this long. Writes are not progress, because a
 * stream and its keep-alives may fill buffers for hours; a single accepted byte is. Ends with the response.
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
      // Reads by the client while the event loop was blocked are noticed in this turn.
      setImmediate(() => {
        if (bytesTaken(response.socket) === taken) onStalled();
        else idle = 0;
      });
    },
    (seconds * 1000) / checksPerTimeout,
  );
  response.once('close', () => clearInterval(timer));
}

/** Returns true if the response has ended and the system accepted all of it. It accepts nothing of a response queued behind another one. */
export function isTaken(response: ServerResponse): boolean {
  return response.writableEnded && response.socket !== null && bytesTaken(response.socket) === undefined;
}

/** Returns the bytes that the system accepted from this connection so far; undefined if it accepted all of them. */
export function bytesTaken(socket: Socket | null): number | undefined {
  const { _handle: queue } = (socket ?? {}) as Socket & { _handle?: SystemQueue | null };
  if (queue === undefined || queue === null || queue.writeQueueSize === 0) return undefined;
  return queue.bytesWritten - queue.writeQueueSize;
}
