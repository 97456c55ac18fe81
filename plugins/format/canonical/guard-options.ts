import type { StateTagger } from './block-queue.ts';
import type { IdRules } from './call-ids.ts';
import type { AnswerImages } from './generated-images.ts';
import type { CompleteReply, Fragment } from './reply.ts';
import type { ToolNames } from './tool-names.ts';

/** Receives the content of an answer as sent by the upstream. */
interface ContentReceiver {
  addReceived(fragment: Fragment): void;
  /** Called when the client's answer differs from the upstream's. */
  noteChange(change: 'arguments' | 'images_as_text' | 'tool_names'): void;
}

/** Options that depend on the route of an answer. */
export interface GuardedRoute {
  readonly names: ToolNames;
  readonly tag: StateTagger;
}

export interface GuardOptions extends GuardedRoute {
  /** Id of the exchange; calls without an id get one that is derived from it. */
  readonly id: string;
  /** Estimates the tokens of the request, if the upstream did not count them. */
  readonly inputTokens: () => number;
  /** True if clients use the last block as the answer, so that reasoning after it is dropped. */
  readonly endsWithAnswer?: boolean | undefined;
  /** True if the client did not request reasoning, which is then recorded but omitted from the answer. */
  readonly hidesReasoning?: boolean | undefined;
  /** Images that the client's format allows in answers; all by default. */
  readonly images?: AnswerImages | undefined;
  /** Ids that clients accept for calls; all by default. */
  readonly callIds?: IdRules | undefined;
  readonly allowsLogprobs?: boolean | undefined;
  /** True if the client's format has a finish reason for answers that pause for the vendor's own tools. */
  readonly allowsPauses?: boolean | undefined;
  /** True if the client requested an output format, which a blank line between texts would break. */
  readonly isStructured?: boolean | undefined;
  readonly received?: ContentReceiver | undefined;
  /** Called with the complete answer, including hidden reasoning. */
  readonly onComplete?: ((reply: CompleteReply) => void) | undefined;
}
