import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const checksPerTimeout = 8;

/** Node's counters of bytes written to a socket. Node's socket timeout uses them as well, but restarts with every write. */
interface WriteCounters {
  readonly bytesWritten: number; // includes queued bytes
  readonly writeQueueSize: number; // bytes that the system has not accepted yet
}

/**
 * Calls `onStalled` if bytes are queued for a client and the system accepts none of them for `seconds`. A single accepted byte is progress,
 * but a write is not, because a stream and its keep-alives may fill buffers for hours. Stops watching when the response ends.
 *
 * @param seconds time without progress; the call may come up to an eighth later
 */
export function watchClient(response: ServerResponse, seconds: number, onStalled: () => void): void {
  let acceptedBytes = 0;
  let idleChecks = 0;
  const timer = setInterval(
    () => {
      const current = countAcceptedBytes(response.socket);
      if (current === undefined || current !== acceptedBytes) {
        acceptedBytes = current ?? 0;
        idleChecks = 0;
        return;
      }
      idleChecks++;
      if (idleChecks < checksPerTimeout) return;
      // By then, Node has counted what the client read while the event loop was blocked.
      setImmediate(() => {
        if (countAcceptedBytes(response.socket) === acceptedBytes) onStalled();
        else idleChecks = 0;
      });
    },
    (seconds * 1000) / checksPerTimeout,
  );
  response.once('close', () => clearInterval(timer));
}

/** True if the response has ended and the system has accepted all of it; false for a response queued behind another response. */
export function isFullyAccepted(response: ServerResponse): boolean {
  return response.writableEnded && response.socket !== null && countAcceptedBytes(response.socket) === undefined;
}

/** Returns the number of bytes that the system has accepted from this connection; undefined if it has accepted all bytes. */
export function countAcceptedBytes(socket: Socket | null): number | undefined {
  const { _handle: counters } = (socket ?? {}) as Socket & { _handle?: WriteCounters | null };
  if (counters === undefined || counters === null || counters.writeQueueSize === 0) return undefined;
  return counters.bytesWritten - counters.writeQueueSize;
}
