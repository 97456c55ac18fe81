import type { CompleteReply } from '../canonical/reply.ts';
import type { Thought } from './thoughts.ts';

/** The reasoning that the gateway keeps for a client whose format has no place for it. One for each request. */
export interface KeptReasoning {
  /** The reasoning that led to a call of the history; empty when there was none, or it is not kept any more. */
  before(callId: string): readonly Thought[];
  /** Keeps the reasoning of an answer. Returns at once and never fails. */
  keep(reply: CompleteReply): void;
}
