import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '#core/platform/json.ts';
import type { OpaqueState, Reasoning, ToolCall } from './conversation.ts';
import { readTaggedState } from './opaque-state.ts';
import type { CompleteReply } from './reply.ts';

/** Reasoning that the gateway stores for clients that do not send it back. One object per request. */
export interface KeptReasoning {
  /** Whether reasoning was found for any call in the request's history. */
  readonly hasFound: boolean;
  /**
   * The reasoning before each call of a history; empty if there was none or it has expired.
   *
   * @param calls all calls of the history, in order
   */
  before(calls: readonly KeptCall[]): (readonly Thought[])[];
  /** Stores the reasoning of an answer. Returns at once and never throws. */
  keep(reply: CompleteReply): void;
}

/** Identifies a call in a conversation. An id alone may repeat or belong to a call that the client has removed. */
export type KeptCall = Pick<ToolCall, 'id' | 'name' | 'input'>;

/** A call in a client's history. */
export interface HistoryCall extends KeptCall {
  /** True if the client did not send back the call's reasoning. */
  readonly isBare: boolean;
}

/** Reasoning that led to a tool call. */
export interface Thought extends Reasoning {
  /** Its tag names the upstream that created it. */
  readonly state: OpaqueState;
  /** Whether answer text preceded it. */
  readonly followsText: boolean;
}

/** A thought as it is stored. */
export interface StoredThought {
  readonly text: string;
  readonly state: string; // with its tag
  readonly isLate: boolean; // stored name of `followsText`
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

/** Reads stored thoughts; skips entries that another version of the gateway wrote in a different form. */
export function readThoughts(entries: readonly StoredThought[]): Thought[] {
  return entries.flatMap(({ text, state: tagged, isLate }) => {
    const state = typeof tagged === 'string' ? readTaggedState(tagged) : undefined;
    if (state === undefined || typeof text !== 'string') return [];
    return [{ type: 'reasoning', text, state, followsText: isLate } as const];
  });
}

/** The input of a call, independent of white space and member order, which clients may change when they send it back. */
export function canonicalInput(input: string): string {
  if (input.trim() === '') return '{}';
  const value = parseObject(input);
  return value === undefined ? input.trim() : JSON.stringify(sorted(value));
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, sorted(member ?? null)] as const);
  // Not an assignment, which would lose a member named `__proto__`.
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))) as JsonObject;
}
