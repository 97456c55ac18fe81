import type { ReplyReader, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { MemoryShare } from '#core/platform/memory/budget.ts';
import type { ConnectionPool } from '../connections/connection-pool.ts';
import type { AttemptClock } from './clock.ts';
import type { Fault } from './fault.ts';

/** Timeouts of an attempt, in seconds. */
export interface AttemptLimits {
  readonly firstByteTimeout: number; // until the response head, and then without a byte until the first content
  readonly idleTimeout: number; // without any byte
  readonly progressTimeout: number; // of a stream without new content, even if it sends pings or single bytes
  readonly deadline: number; // until a non-streaming response is complete, or a stream has its first content
}

/** Request and callbacks of one attempt. */
export interface AttemptRequest {
  readonly agent: Pick<ConnectionPool, 'dispatch'>;
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: UpstreamRequest['body'];
  readonly isStream: boolean;
  /** True if `onEnd` decides how an interrupted stream continues; the stream then ends without an error. */
  readonly isResumable?: boolean;
  readonly limits: AttemptLimits;
  /** Memory budget for the bytes of the response. */
  readonly memory: MemoryShare;
  /** Creates a second reader of the response, used to find the end of a stream that is converted as a whole. */
  readonly createReader?: () => ReplyReader;
  readonly now: () => number;
  /** Secrets to remove from errors: keys and host of the upstream. Called only if there is an error. */
  readonly secrets?: () => readonly string[];
  /** Name of the upstream's preset; selects the wording of that server's errors. */
  readonly vendor?: string | undefined;
  /** Removes the parts of a fault that the client must not see. */
  readonly redact?: (fault: Fault) => Fault;
  /** Called when a new or reused connection is open and the request is being sent. */
  readonly onConnected?: () => void;
  /** Called when the first content of the response arrives. */
  readonly onContent: () => void;
  /** Called if the gateway itself failed to read the response. The attempt ends; the error is not reported anywhere else. */
  readonly onFailure?: (error: unknown) => void;
  /** Called when a reply that was handed over ends, with a fault if it is incomplete. */
  readonly onEnd: (fault: Fault | undefined) => void;
}

/**
 * Time for which a stream may stay open after its content is finished. Usage, the end marker and the end of the body arrive in this time.
 * After the end of the body, the connection can be reused.
 */
export const finishGraceMs = 500;

/** A response whose head arrived, with the operations on the attempt that its body may use. */
export interface UpstreamResponse {
  readonly request: AttemptRequest;
  readonly reader: ReplyReader;
  readonly clock: AttemptClock;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** True once the attempt ended and the remainder of the response is no longer needed. */
  readonly isOver: boolean;
  /** True once the connection failed or closed, even before the body is notified. */
  readonly isDisconnected: boolean;
  /** True while the attempt yields to other exchanges, possibly in the middle of a packet. */
  readonly isYielding: boolean;
  /** Hands the reply to the client. From then on, no other route can take over. */
  handOver(reply: Pick<Reply, 'body' | 'renderFailure'>, contentType: string): void;
  /**
   * Ends the attempt.
   *
   * @param fault set if the response is incomplete
   */
  end(fault?: Fault): void;
  /**
   * Reserves memory for this many bytes of the response, replacing the previous reservation.
   *
   * @param mustFit false for bytes that are already allocated; they are counted even beyond the budget
   * @returns false if the attempt ended for lack of memory
   */
  reserveMemory(bytes: number, mustFit?: boolean): boolean;
  /** Pauses reading from the upstream. */
  pause(): void;
  /** Continues reading from the upstream. */
  resume(): void;
}

/** Reads the body of a response. */
export interface ResponseBody {
  /** Called for each chunk of the body. */
  receive(chunk: Buffer): void;
  /** Called when the upstream ended the body. */
  end(): void;
  /** Called when the attempt timed out. `timeout` is the outcome unless enough has arrived. */
  expire(timeout: Fault): void;
  /** Called when the connection failed. `fault` is the outcome unless the response is complete, or if this method is missing. */
  disconnect?(fault: Fault): void;
  /** Closes a stream that was handed over. */
  close?(fault: Fault | undefined): void;
}

/** Returns the Content-Type header; empty if it is missing. */
export function getContentType({ headers }: UpstreamResponse): string {
  return String(headers['content-type'] ?? '');
}
