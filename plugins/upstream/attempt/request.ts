import type { Dispatcher } from 'undici';
import type { MemoryShare } from '#core/platform/memory/budget.ts';
import type { ReplyReader } from '#core/gateway/model-call/adapter.ts';
import type { Fault } from './fault.ts';

/** How long an attempt may take. Seconds. */
export interface AttemptLimits {
  readonly firstByteTimeout: number; // until the head of the answer, and without a byte until its first content
  readonly idleTimeout: number; // without a byte
  readonly progressTimeout: number; // of a stream without content, although it sends pings or single bytes
  readonly deadline: number; // until a whole answer is complete, or a stream has its first content
}

/** What one attempt sends, and whom it reports to. */
export interface AttemptRequest {
  readonly agent: Pick<Dispatcher, 'dispatch'>;
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer | string;
  readonly isStream: boolean;
  /** True when `onEnd` decides how a broken stream continues: the stream then ends without an error. */
  readonly isResumable?: boolean;
  readonly limits: AttemptLimits;
  /** Where the bytes of the answer are reserved. */
  readonly memory: MemoryShare;
  /** Another reader of the same answer, to see where a stream ends that is converted as a whole. */
  readonly createReader?: () => ReplyReader;
  readonly now: () => number;
  /** What no error may show: keys and host of the upstream. Called only for an error. */
  readonly secrets?: () => readonly string[];
  /** The fault as the client may see it. */
  readonly shown?: (fault: Fault) => Fault;
  /** A connection, new or reused, is there, and the request goes out. */
  readonly onConnected?: () => void;
  /** The first content of the answer has come. */
  readonly onContent: () => void;
  /** Reading the answer has failed inside the gateway: the attempt ends, and nobody else hears why. */
  readonly onFailure?: (error: unknown) => void;
  /** The answer that was handed over is over; the fault is what broke it off. */
  readonly onEnd: (fault: Fault | undefined) => void;
}
