import type { ReplyReader, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { MemoryShare } from '#core/platform/memory/budget.ts';
import type { ConnectionPool } from '../connections/connection-pool.ts';
import type { AttemptClock } from './clock.ts';
import type { Fault } from './fault.ts';

/** Timeouts of an attempt, in seconds. */
interface AttemptLimits {
  readonly firstByteTimeout: number; // until the head of the answer, and without a byte until its first content
  readonly idleTimeout: number; // without any byte
  readonly progressTimeout: number; // of a stream without content, even if it sends pings or single bytes
  readonly deadline: number; // until a whole answer is complete, or a stream has its first content
}

/** Request and callbacks of one attempt. */
export interface AttemptRequest {
  readonly agent: Pick<ConnectionPool, 'dispatch'>;
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: UpstreamRequest['body'];
  readonly isStream: boolean;
  /** True if `onEnd` decides how a broken stream continues: the stream then ends without an error. */
  readonly isResumable?: boolean;
  readonly limits: AttemptLimits;
  /** Memory budget for the bytes of the answer. */
  readonly memory: MemoryShare;
  /** Creates a second reader of the same answer, which finds the end of a stream that is converted as a whole. */
  readonly createReader?: () => ReplyReader;
  readonly now: () => number;
  /** Secrets to remove from errors: keys and host of the upstream. Called only if there is an error. */
  readonly secrets?: () => readonly string[];
  /** Name of the upstream's preset: the wording of some servers' errors is known. */
  readonly vendor?: string | undefined;
  /** Removes from a fault what the client must not see. */
  readonly redact?: (fault: Fault) => Fault;
  /** Called when a connection, new or reused, is open and the request is sent. */
  readonly onConnected?: () => void;
  /** Called when the first content of the answer arrives. */
  readonly onContent: () => void;
  /** Called when the gateway itself failed to read the answer. The attempt ends; this is the only report of the error. */
  readonly onFailure?: (error: unknown) => void;
  /** Called when an answer that was handed over ends, with a fault if it is incomplete. */
  readonly onEnd: (fault: Fault | undefined) => void;
}

/**
 * Ms that a stream may stay open once its answer is finished: for the usage, the end marker and the end of the body, after which the
 * connection can be reused.
 */
export const finishGrace = 500;

/** An answer whose head arrived, with the operations on the attempt that its body may use. */
export interface Answer {
  readonly request: AttemptRequest;
  readonly reader: ReplyReader;
  readonly clock: AttemptClock;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** True once the attempt ended: the remainder of the response is not needed. */
  readonly isOver: boolean;
  /** True once its connection broke or closed, even if the body was not told yet. */
  readonly isDisconnected: boolean;
  /** True while the attempt yields to other exchanges, possibly in the middle of a packet. */
  readonly isYielding: boolean;
  /** Hands the reply to the client. From then on, no other route can take over. */
  handOver(reply: Pick<Reply, 'body' | 'renderFailure'>, contentType: string): void;
  /**
   * Ends the attempt.
   *
   * @param fault set if the answer is incomplete
   */
  end(fault?: Fault): void;
  /**
   * Reserves memory for this many bytes of the answer, replacing the previous reservation. Returns false if that ended the attempt.
   *
   * @param mustFit false for bytes that are already allocated: they are counted even without room
   */
  hold(bytes: number, mustFit?: boolean): boolean;
  /** Pauses reading from the upstream. */
  pause(): void;
  resume(): void;
}

/** Reads the body of an answer. */
export interface AnswerBody {
  take(chunk: Buffer): void;
  /** The upstream ended the body. */
  end(): void;
  /** The attempt timed out. `timeout` is the outcome unless enough arrived. */
  expire(timeout: Fault): void;
  /** The connection failed. `fault` is the outcome unless the answer is complete; bodies without this method always fail. */
  disconnect?(fault: Fault): void;
  /** Ends a stream that was handed over. */
  close?(fault: Fault | undefined): void;
}

export function contentTypeOf({ headers }: Answer): string {
  return String(headers['content-type'] ?? '');
}
