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

/** What replies of a client's format can hold. */
export interface ReplyRules {
  /** True if clients treat the last item of a reply as the reply itself, so that reasoning after it is dropped. */
  readonly endsWithAnswer?: boolean;
  /** The images that replies can hold; any by default. */
  readonly replyImages?: AnswerImages;
  /** The ids that clients accept for calls; any by default. */
  readonly callIds?: IdRules;
  /** True if replies can hold log probabilities. */
  readonly hasLogprobs?: boolean;
  /** True if the format has a finish reason for a reply that pauses while the vendor runs its own tools. */
  readonly hasPauses?: boolean;
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
  readonly rules?: ReplyRules | undefined;
  /** True if the client did not request reasoning, which is then recorded but omitted from the answer. */
  readonly hidesReasoning?: boolean | undefined;
  /** True if the client requested an output format, which a blank line between texts would break. */
  readonly isStructured?: boolean | undefined;
  readonly received?: ContentReceiver | undefined;
  /** Called with the complete answer, including hidden reasoning. */
  readonly onComplete?: ((reply: CompleteReply) => void) | undefined;
}
