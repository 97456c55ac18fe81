import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '#core/platform/json.ts';
import type { OpaqueState, Reasoning, ToolCall } from './conversation.ts';
import { readTaggedState } from './opaque-state.ts';
import type { CompleteReply } from './reply.ts';

/** The reasoning that the gateway keeps for a client that does not return it. One for each request. */
export interface KeptReasoning {
  /** True when there is some for the history of the request. */
  readonly hasFound: boolean;
  /**
   * The reasoning that led to each call of a history; empty when there was none, or it has expired.
   *
   * @param calls all of them, in order
   */
  before(calls: readonly KeptCall[]): (readonly Thought[])[];
  /** Keeps the reasoning of an answer. Returns at once and never fails. */
  keep(reply: CompleteReply): void;
}

/** Identifies a call in a conversation. Ids alone may repeat, or be those of calls that the client has removed. */
export type KeptCall = Pick<ToolCall, 'id' | 'name' | 'input'>;

/** A call in a client's history. */
export interface HistoryCall extends KeptCall {
  /** True if the client has not returned its reasoning. */
  readonly isBare: boolean;
}

/** Reasoning that led to a tool call. */
export interface Thought extends Reasoning {
  /** Its tag names the upstream that made it. */
  readonly state: OpaqueState;
  /** True when text of the answer stood before it. */
  readonly isLate: boolean;
}

/** A thought as it is stored. */
export interface StoredThought {
  readonly text: string;
  readonly state: string; // with its tag
  readonly isLate: boolean;
}

/** The calls of an answer, each with the reasoning before it. */
export function thoughtsBeforeCalls({ blocks }: CompleteReply): [call: KeptCall, thoughts: readonly StoredThought[]][] {
  const found: [KeptCall, readonly StoredThought[]][] = [];
  let thoughts: StoredThought[] = [];
  let isLate = false;
  for (const block of blocks) {
    if (block.type === 'reasoning') thoughts.push({ text: block.text, state: block.state, isLate });
    else if (block.type !== 'tool_call') isLate = true;
    else {
      found.push([block, thoughts]);
      thoughts = [];
      isLate = false;
    }
  }
  return found;
}

/** Reads stored thoughts; none where another version of the gateway wrote something else. */
export function readThoughts(entries: readonly StoredThought[]): Thought[] {
  return entries.flatMap(({ text, state: tagged, isLate }) => {
    const state = typeof tagged === 'string' ? readTaggedState(tagged) : undefined;
    if (state === undefined || typeof text !== 'string') return [];
    return [{ type: 'reasoning', text, state, isLate } as const];
  });
}

/** The input of a call without what clients change when they write it again: white space and the order of members. */
export function canonicalInput(input: string): string {
  if (input.trim() === '') return '{}';
  const value = parseObject(input);
  return value === undefined ? input.trim() : JSON.stringify(sorted(value));
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, sorted(member ?? null)] as const);
  // Own members only, `__proto__` too.
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1))) as JsonObject;
}
