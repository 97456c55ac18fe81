import type { Audience } from '../errors/table.ts';
import type { ReplyText } from '../pipeline/reply-text.ts';
import type { ReasoningWay } from './quirks.ts';

/**
 * What core knows of a wire format: how a client, or an upstream, writes requests and replies. Plugins register them.
 *
 * A client's format is known from the path before any stage runs, so even the first refusal has its shape.
 */
export interface WireFormat extends Audience {
  /** As gateway.yaml has it: chat, responses, messages, … */
  readonly name: string;
  /** Ways in which it can ask for reasoning; none where no conversations are held. */
  readonly reasoningWays: readonly ReasoningWay[];
  /** Where its replies have the text of an answer; missing where no conversations are held by clients. */
  readonly replyText?: ReplyText;
}

/** Formats by name, as plugins have registered them. */
export type WireFormats = ReadonlyMap<string, WireFormat>;
