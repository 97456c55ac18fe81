import type { StateTagger } from './block-queue.ts';
import type { IdRules } from './call-ids.ts';
import type { AnswerImages } from './generated-images.ts';
import type { CompleteReply, Fragment } from './reply.ts';
import type { ToolNames } from './tool-names.ts';

/** Receives the content of a reply as the upstream sent it. */
interface ContentReceiver {
  addReceived(fragment: Fragment): void;
  /** Called for each change to the upstream's content: call arguments, images replaced by text, or tool names. */
  noteChange(change: 'arguments' | 'images_as_text' | 'tool_names'): void;
}

/** What replies in a client's format can contain. */
export interface ReplyRules {
  /** True if clients take the last item of a reply as its text, so that reasoning after it must be dropped. */
  readonly endsWithAnswer?: boolean;
  /** The images that replies can contain; any by default. */
  readonly replyImages?: AnswerImages;
  /** The call ids that clients accept; any by default. */
  readonly callIds?: IdRules;
  /** True if replies can contain log probabilities. */
  readonly hasLogprobs?: boolean;
  /** True if the format has a finish reason for a reply that pauses while the vendor runs its own tools. */
  readonly hasPauses?: boolean;
}

/** The options that depend on the route of a reply. */
export interface GuardedRoute {
  /** Maps the tool names sent upstream back to the client's. */
  readonly toolNames: ToolNames;
  /** Tags the vendor's reasoning state with its origin. */
  readonly tagState: StateTagger;
}

/** Options for the guard, which makes an upstream's reply fit what the client's format can contain. */
export interface GuardOptions extends GuardedRoute {
  /** Id of the exchange; the ids of calls that lack one are derived from it. */
  readonly exchangeId: string;
  /** Estimates the tokens of the request; called if the upstream did not count them. */
  readonly estimateInputTokens: () => number;
  readonly rules?: ReplyRules | undefined;
  /** True if the client did not ask for reasoning. It is then recorded but left out of the reply. */
  readonly hidesReasoning?: boolean | undefined;
  /** True if the client asked for an output format, which a blank line between texts would break. */
  readonly isStructured?: boolean | undefined;
  readonly receiver?: ContentReceiver | undefined;
  /** Called with the complete reply, including hidden reasoning. */
  readonly onComplete?: ((reply: CompleteReply) => void) | undefined;
}
