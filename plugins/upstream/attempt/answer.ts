import type { ReplyReader } from '#core/model-call/adapter.ts';
import { withoutByteOrderMark } from '#core/model-call/byte-order-mark.ts';
import type { Reply } from '#core/pipeline/reply.ts';
import type { AttemptClock } from './clock.ts';
import type { Fault } from './fault.ts';
import type { AttemptRequest } from './request.ts';

/**
 * Ms that a stream may stay open once its answer has finished: for the usage, the end mark, and the end of the body, after
 * which its connection can be reused.
 */
export const finishGrace = 500;

/** An answer whose head has come, and what its body may do with the attempt. */
export interface Answer {
  readonly request: AttemptRequest;
  readonly reader: ReplyReader;
  readonly clock: AttemptClock;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** True when the attempt has ended: the remainder of the response is not needed. */
  readonly isOver: boolean;
  /** Hands the reply to the client: no other route can take over from here on. */
  handOver(reply: Pick<Reply, 'body' | 'renderFailure'>, contentType: string): void;
  /** Ends the attempt: with a fault when the answer did not serve to its end. */
  end(fault?: Fault): void;
  /** Stops and restarts the bytes of the upstream. */
  pause(): void;
  resume(): void;
}

/** How the body of an answer is read. */
export interface AnswerBody {
  take(chunk: Buffer): void;
  /** The upstream has closed the body. */
  end(): void;
  /** The time is up, which is this fault unless enough has come. */
  expire(timeout: Fault): void;
  /** The connection failed, which is this fault unless the answer is complete. Always a fault when left out. */
  disconnect?(fault: Fault): void;
  /** Ends the stream that was handed over. */
  close?(fault: Fault | undefined): void;
}

export function contentTypeOf({ headers }: Answer): string {
  return String(headers['content-type'] ?? '');
}

/** Bytes that are kept until all of them are there. */
export class CollectedBytes {
  #chunks: Buffer[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  bytes(): Buffer {
    return this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks, this.#size);
  }

  /** The bytes of a JSON text. */
  json(): Buffer {
    return withoutByteOrderMark(this.bytes());
  }

  /** Returns the bytes and keeps none of them. */
  take(): Buffer {
    const bytes = this.bytes();
    this.#chunks = [];
    this.#size = 0;
    return bytes;
  }
}
