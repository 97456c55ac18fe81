import { isFilled, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { normalizeInput } from '../../../canonical/stored-reasoning.ts';
import type { ChatCall, ChatCallBody } from '../../../wire/chat.ts';
import { asFilledText, readMember } from '../../../wire/members.ts';

export interface CallEntries {
  /** Entries of `tool_calls`. */
  readonly entries: readonly JsonValue[];
  /** The `function_call` member, the deprecated form, which has no ids and holds at most one call. */
  readonly deprecatedCall: JsonObject | undefined;
}

/** A call, or a piece of a call, in a message or a delta. */
export interface CallEntry {
  readonly entry: ChatCall;
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly input: string;
  readonly isCustom: boolean;
  readonly isDeprecated: boolean;
}

/** Some servers write a call in both forms; the deprecated one is then ignored. */
export function readEntries({ entries, deprecatedCall }: CallEntries): CallEntry[] {
  const callEntries = entries.filter(isJsonObject).map((entry) => readEntry(entry));
  if (deprecatedCall === undefined) return callEntries;
  const deprecated = readEntry({ function: deprecatedCall }, true);
  return callEntries.some((entry) => isSamePiece(entry, deprecated)) ? callEntries : [...callEntries, deprecated];
}

/** Returns true for a piece that does not say which call it belongs to. */
export function isAnonymous({ index, id, name }: CallEntry): boolean {
  return index === undefined && id === undefined && name === undefined;
}

export function hasDifferentIndex(
  { index }: Pick<CallEntry, 'index'>,
  { index: otherIndex }: { readonly index: number | undefined },
): boolean {
  return index !== undefined && otherIndex !== undefined && index !== otherIndex;
}

function isSamePiece(current: CallEntry, deprecated: CallEntry): boolean {
  if (current.isCustom || current.name !== deprecated.name) return false;
  return current.input === deprecated.input || normalizeInput(current.input) === normalizeInput(deprecated.input);
}

function readEntry(entry: JsonObject, isDeprecated = false): CallEntry {
  const { index, id, type, custom, function: namedFunction = entry }: ChatCall = entry;
  const isFunction =
    type === 'function' || asFilledText(readMember<ChatCallBody>(entry['function'], 'name')) !== undefined;
  const isCustom = !isFunction && (type === 'custom' || (isJsonObject(custom) && isFilled(custom)));
  const body = isCustom ? custom : (namedFunction ?? entry);
  return {
    entry,
    index: typeof index === 'number' ? index : undefined,
    // Mistral's default id is the string "null". Source: Mistral API reference, `ToolCall`.
    id: id === 'null' ? undefined : asFilledText(typeof id === 'number' ? String(id) : id),
    name: asFilledText(readMember<ChatCallBody>(body, 'name')),
    input: readInput(readMember<ChatCallBody>(body, isCustom ? 'input' : 'arguments')),
    isCustom,
    isDeprecated,
  };
}

function readInput(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  // Some vendors send an object rather than text.
  return isJsonObject(value) ? JSON.stringify(value) : '';
}
