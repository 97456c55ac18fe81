import { isJsonObject, type JsonValue, parseObject } from '#core/platform/json.ts';
import type { OpaqueState, Reasoning, ToolCall } from './conversation.ts';
import { readTaggedState } from './opaque-state.ts';
import type { CompleteReply } from './reply.ts';

/** Gives access to the reasoning that the gateway stores for clients that do not send it back. Each request has its own object. */
export interface StoredReasoning {
  /** True if reasoning was found for any call in the request's history. */
  readonly hasStored: boolean;
  /**
   * Returns the reasoning before each call of a history; empty if there was none or it has expired.
   *
   * @param calls all calls of the history, in order
   */
  findBefore(calls: readonly CallIdentity[]): (readonly Thought[])[];
  /** Stores the reasoning of an answer in the background. Never throws. */
  store(reply: CompleteReply): void;
}

/** Identifies a call within a conversation. The id is not enough: it may repeat, or belong to a call that the client has removed. */
export type CallIdentity = Pick<ToolCall, 'id' | 'name' | 'input'>;

export interface HistoryCall extends CallIdentity {
  readonly lacksReasoning: boolean;
}

/** Reasoning that led to a tool call. */
export interface Thought extends Reasoning {
  readonly state: OpaqueState;
  /** True if the answer had text between the previous call and the reasoning. */
  readonly followsText: boolean;
}

export interface StoredThought {
  readonly text: string;
  readonly state: string; // includes the tag
  readonly isLate: boolean; // stored name of `followsText`
}

export function listThoughtsByCall({
  blocks,
}: CompleteReply): [call: CallIdentity, thoughts: readonly StoredThought[]][] {
  const calls: [CallIdentity, readonly StoredThought[]][] = [];
  let thoughts: StoredThought[] = [];
  let hasText = false;
  for (const block of blocks) {
    if (block.type === 'reasoning') thoughts.push({ text: block.text, state: block.state, isLate: hasText });
    else if (block.type !== 'tool_call') hasText = true;
    else {
      calls.push([block, thoughts]);
      thoughts = [];
      hasText = false;
    }
  }
  return calls;
}

/** Skips entries that another gateway version wrote in a different form. */
export function readThoughts(entries: readonly StoredThought[]): Thought[] {
  return entries.flatMap(({ text, state: tagged, isLate }) => {
    const state = typeof tagged === 'string' ? readTaggedState(tagged) : undefined;
    if (state === undefined || typeof text !== 'string') return [];
    return [{ type: 'reasoning', text, state, followsText: isLate } as const];
  });
}

/** Normalizes white space and member order in a call's input, because clients may change them before they send it back. */
export function normalizeInput(input: string): string {
  if (input.trim() === '') return '{}';
  const value = parseObject(input);
  return value === undefined ? input.trim() : JSON.stringify(sortMembers(value));
}

function sortMembers(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, sortMembers(member ?? null)] as const);
  // Assigning the members one by one would lose a member named `__proto__`.
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
