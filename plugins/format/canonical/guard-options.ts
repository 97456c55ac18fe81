import type { StateTagger } from './block-queue.ts';
import type { IdForm } from './call-ids.ts';
import type { ShownImages } from './made-images.ts';
import type { CompleteReply, Fragment } from './reply.ts';
import type { ToolNames } from './tool-names.ts';

interface ReceivedContent {
  take(fragment: Fragment): void;
  /** Called when the client's answer differs from the upstream's. */
  noteChange(change: 'arguments' | 'images_as_text' | 'tool_names'): void;
}

/** The options that depend on the route of an answer. */
export interface GuardedRoute {
  readonly names: ToolNames;
  readonly tag: StateTagger;
}

export interface GuardOptions extends GuardedRoute {
  /** Id of the exchange; calls without an id get one derived from it. */
  readonly id: string;
  /** Estimates the tokens of the request, if the upstream did not count them. */
  readonly inputTokens: () => number;
  /** True if clients take the last block for the answer: reasoning after it is dropped. */
  readonly endsWithAnswer?: boolean | undefined;
  /** True if the client did not request reasoning: it is recorded, but left out of the answer. */
  readonly hidesReasoning?: boolean | undefined;
  /** The images that the client's format allows in answers; any by default. */
  readonly images?: ShownImages | undefined;
  /** The ids that clients accept for calls; any by default. */
  readonly callIds?: IdForm | undefined;
  readonly hasLogprobs?: boolean | undefined;
  /** True if the client's format has a finish reason for answers that pause for the vendor's own tools. */
  readonly hasPauses?: boolean | undefined;
  /** True if the client requested an output format, which a blank line between texts would break. */
  readonly isStructured?: boolean | undefined;
  /** Receives the content of the answer as sent by the upstream. */
  readonly received?: ReceivedContent | undefined;
  /** Called with the complete answer, hidden reasoning included. */
  readonly onComplete?: ((reply: CompleteReply) => void) | undefined;
}
