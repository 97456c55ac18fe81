import { isJsonObject, parseObject } from '#core/platform/json.ts';
import type { OpaqueState, Reasoning } from './conversation.ts';
import { readTaggedState } from './opaque-state.ts';
import type { CompleteReply } from './reply.ts';

/** The reasoning that the gateway keeps for a client whose format has no place for it. One for each request. */
export interface KeptReasoning {
  /** The reasoning that led to a call of the history; empty when there was none, or it has expired. */
  before(callId: string): readonly Thought[];
  /** Keeps the reasoning of an answer. Returns at once and never fails. */
  keep(reply: CompleteReply): void;
}

/** Reasoning that led to a tool call. */
export interface Thought extends Reasoning {
  /** Its tag names the upstream that made it. */
  readonly state: OpaqueState;
  /** True when text of the answer stood before it. */
  readonly isLate: boolean;
}

/** A thought as it is stored. */
interface StoredThought {
  readonly text: string;
  readonly state: string; // with its tag
  readonly isLate: boolean;
}

/** The reasoning before each call of an answer, as bytes, by the call's id. */
export function thoughtsBeforeCalls({ blocks }: CompleteReply): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  let thoughts: StoredThought[] = [];
  let isLate = false;
  for (const block of blocks) {
    if (block.type === 'reasoning') thoughts.push({ text: block.text, state: block.state, isLate });
    else if (block.type !== 'tool_call') isLate = true;
    else {
      if (thoughts.length > 0) found.set(block.id, Buffer.from(JSON.stringify({ thoughts })));
      thoughts = [];
      isLate = false;
    }
  }
  return found;
}

/** Reads stored thoughts; none where another version of the gateway wrote something else. */
export function readThoughts(stored: Buffer): Thought[] {
  const entries = parseObject(stored.toString())?.['thoughts'];
  return (Array.isArray(entries) ? entries : []).flatMap((entry) => {
    const { text, state: tagged, isLate } = isJsonObject(entry) ? entry : {};
    const state = typeof tagged === 'string' ? readTaggedState(tagged) : undefined;
    if (state === undefined || typeof text !== 'string') return [];
    return [{ type: 'reasoning', text, state, isLate: isLate === true } as const];
  });
}
