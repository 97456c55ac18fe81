import type { ReplyReader, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { MemoryShare } from '#core/platform/memory/budget.ts';
import type { ConnectionPool } from '../connections/connection-pool.ts';
import type { AttemptClock } from './clock.ts';
import type { Fault } from './fault.ts';

/** Timeouts of an attempt, in seconds. */
interface AttemptLimits {
  readonly firstByteTimeout: number; // until the head of the answer, and without a byte until its first content
  readonly idleTimeout: number; // without a byte
  readonly progressTimeout: number; // of a stream without content, although it sends pings or single bytes
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
  /** True when `onEnd` decides how a broken stream continues: the stream then ends without an error. */
  readonly isResumable?: boolean;
  readonly limits: AttemptLimits;
  /** Memory budget for the bytes of the answer. */
  readonly memory: MemoryShare;
  /** Another reader of the same answer, to find the end of a stream that is converted as a whole. */
  readonly createReader?: () => ReplyReader;
  readonly now: () => number;
  /** Secrets that no error may contain: keys and host of the upstream. Called only for an error. */
  readonly secrets?: () => readonly string[];
  /** Name of the upstream's preset: some servers are known by their words. */
  readonly vendor?: string | undefined;
  /** The fault as the client may see it. */
  readonly shown?: (fault: Fault) => Fault;
  /** A connection, new or reused, is open, and the request is sent. */
  readonly onConnected?: () => void;
  /** The first content of the answer has arrived. */
  readonly onContent: () => void;
  /** Reading the answer has failed inside the gateway. The attempt ends; this is the only report of the error. */
  readonly onFailure?: (error: unknown) => void;
  /** The answer that was handed over has ended, with the fault that broke it off. */
  readonly onEnd: (fault: Fault | undefined) => void;
}

/**
 * Ms that a stream may stay open once its answer has finished: for the usage, the end mark, and the end of the body, after
 * which its connection can be reused.
 */
export const finishGrace = 500;

/** An answer whose head has arrived, with the operations on the attempt that are open to its body. */
export interface Answer {
  readonly request: AttemptRequest;
  readonly reader: ReplyReader;
  readonly clock: AttemptClock;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** True when the attempt has ended: the remainder of the response is not needed. */
  readonly isOver: boolean;
  /** True when its connection has broken or closed, even if that was not reported to the body yet. */
  readonly isDisconnected: boolean;
  /** True while it lets other exchanges run, perhaps in the middle of a packet. */
  readonly isYielding: boolean;
  /** Hands the reply to the client: no other route can take over from here on. */
  handOver(reply: Pick<Reply, 'body' | 'renderFailure'>, contentType: string): void;
  /** Ends the attempt: with a fault when the answer is incomplete. */
  end(fault?: Fault): void;
  /**
   * Reserves memory for this many bytes of the answer, in place of the bytes before. Returns false when that has ended the attempt.
   *
   * @param mustFit false: they are counted, and there whether or not there is room
   */
  hold(bytes: number, mustFit?: boolean): boolean;
  /** Stops and restarts the bytes of the upstream. */
  pause(): void;
  resume(): void;
}

/** Reads the body of an answer. */
export interface AnswerBody {
  take(chunk: Buffer): void;
  /** The upstream has closed the body. */
  end(): void;
  /** The attempt timed out, which is this fault unless enough has arrived. */
  expire(timeout: Fault): void;
  /** The connection failed, which is this fault unless the answer is complete. Without this method it is always a fault. */
  disconnect?(fault: Fault): void;
  /** Ends the stream that was handed over. */
  close?(fault: Fault | undefined): void;
}

export function contentTypeOf({ headers }: Answer): string {
  return String(headers['content-type'] ?? '');
}
