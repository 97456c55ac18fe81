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
  readonly memory: MemoryShare;
  /** Creates a second reader of the response. It finds the end of a stream that is converted as a whole. */
  readonly createReader?: () => ReplyReader;
  readonly now: () => number;
  /** Secrets to remove from errors: the upstream's keys and host. Called only if there is an error. */
  readonly secrets?: () => readonly string[];
  /** The upstream's preset, which selects the patterns for its error messages. */
  readonly vendor?: string | undefined;
  readonly redact?: (fault: Fault) => Fault;
  /** Called when a connection, new or reused, is open and the request is being sent. */
  readonly onConnected?: () => void;
  readonly onContent: () => void; // once, when the reply is handed over
  /** Called if the gateway itself failed to read the response. The attempt ends; nothing else reports the error. */
  readonly onFailure?: (error: unknown) => void;
  /** Called when a reply that was handed over ends, with a fault if it is incomplete. */
  readonly onEnd: (fault: Fault | undefined) => void;
}

/**
 * How long a stream may stay open after its content is finished. Usage, the end marker and the end of the body arrive in this time; once
 * the body has ended, the connection can be reused.
 */
export const finishGraceMs = 500;

/** A response whose head has arrived, as its body sees it. */
export interface UpstreamResponse {
  readonly request: AttemptRequest;
  readonly reader: ReplyReader;
  readonly clock: AttemptClock;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** True once the attempt has ended and the rest of the response is not needed. */
  readonly isOver: boolean;
  /** True once the connection has failed or closed, even if the body has not been notified yet. */
  readonly isDisconnected: boolean;
  /** True while the attempt yields to other exchanges, possibly in the middle of a packet. */
  readonly isYielding: boolean;
  /** Hands the reply to the client. After this call, no other route can take over. */
  handOver(reply: Pick<Reply, 'body' | 'renderFailure'>, contentType: string): void;
  /** @param fault set if the response is incomplete */
  end(fault?: Fault): void;
  /**
   * Reserves memory for this many bytes of the response, replacing the previous reservation.
   *
   * @param mustFit false for bytes that are already allocated: they are counted even if they exceed the budget
   * @returns false if the attempt ended for lack of memory
   */
  reserveMemory(bytes: number, mustFit?: boolean): boolean;
  pause(): void;
  resume(): void;
}

export interface ResponseBody {
  receive(chunk: Buffer): void;
  end(): void;
  /** Called when the attempt has timed out. `timeout` becomes the outcome unless enough has arrived. */
  expire(timeout: Fault): void;
  /** Called when the connection has failed. `fault` becomes the outcome unless the response is complete. Without this method, it always does. */
  disconnect?(fault: Fault): void;
  /** Closes a stream that was handed over. */
  close?(fault: Fault | undefined): void;
}

export function getContentType({ headers }: UpstreamResponse): string {
  return String(headers['content-type'] ?? '');
}
