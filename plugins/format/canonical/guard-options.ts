import type { StateTagger } from './block-queue.ts';
import type { IdRules } from './call-ids.ts';
import type { AnswerImages } from './generated-images.ts';
import type { CompleteReply, Fragment } from './reply.ts';
import type { ToolNames } from './tool-names.ts';

interface ContentReceiver {
  addReceived(fragment: Fragment): void;
  noteChange(change: 'arguments' | 'images_as_text' | 'tool_names'): void;
}

export interface ReplyRules {
  /** True if clients take the last item of a reply as its text, so that reasoning after it must be dropped. */
  readonly endsWithAnswer?: boolean;
  /** Default: any. */
  readonly replyImages?: AnswerImages;
  /** Default: any. */
  readonly callIds?: IdRules;
  readonly hasLogprobs?: boolean;
  /** True if the format has a finish reason for a reply that pauses while the vendor runs its own tools. */
  readonly hasPauses?: boolean;
}

export interface GuardedRoute {
  readonly toolNames: ToolNames;
  readonly tagState: StateTagger;
}

export interface GuardOptions extends GuardedRoute {
  /** Id of the exchange; the ids of calls that lack one are derived from it. */
  readonly exchangeId: string;
  /** Called only if the upstream did not count them. */
  readonly estimateInputTokens: () => number;
  readonly rules?: ReplyRules | undefined;
  /** True if the client did not ask for reasoning. Reasoning is then recorded but omitted from the reply. */
  readonly hidesReasoning?: boolean | undefined;
  /** True if the client asked for an output format, which a blank line between texts would break. */
  readonly isStructured?: boolean | undefined;
  readonly receiver?: ContentReceiver | undefined;
  /** Called with the complete reply, including hidden reasoning. */
  readonly onComplete?: ((reply: CompleteReply) => void) | undefined;
}
