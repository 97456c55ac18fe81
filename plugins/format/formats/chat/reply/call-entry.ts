import { isFilled, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { canonicalInput } from '../../../canonical/kept-reasoning.ts';
import { filledText, member } from '../../../wire/members.ts';
import type { ChatCall, ChatCallBody } from '../../../wire/chat.ts';

/** The calls of a message or a delta. */
export interface CallEntries {
  /** Entries of `tool_calls`. */
  readonly entries: readonly JsonValue[];
  /** The `function_call` member: the deprecated form, which has no ids and at most one call. */
  readonly old: JsonObject | undefined;
}

/** A call, or a piece of a call, in a message or a delta. */
export interface CallEntry {
  readonly entry: ChatCall;
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly input: string;
  readonly isCustom: boolean;
  readonly isOld: boolean;
}

/** Some servers write a call in both forms; the deprecated form then adds nothing. */
export function readEntries({ entries, old }: CallEntries): CallEntry[] {
  const current = entries.filter(isJsonObject).map((entry) => readEntry(entry));
  if (old === undefined) return current;
  const deprecated = readEntry({ function: old }, true);
  return current.some((one) => isSamePiece(one, deprecated)) ? current : [...current, deprecated];
}

/** True for a piece that does not identify its call. */
export function isAnonymous({ index, id, name }: CallEntry): boolean {
  return index === undefined && id === undefined && name === undefined;
}

/** True if the vendor gave the two calls different indexes. */
export function isAtOtherIndex(
  { index }: Pick<CallEntry, 'index'>,
  { index: other }: { readonly index: number | undefined },
): boolean {
  return index !== undefined && other !== undefined && index !== other;
}

function isSamePiece(one: CallEntry, other: CallEntry): boolean {
  if (one.isCustom || one.name !== other.name) return false;
  return one.input === other.input || canonicalInput(one.input) === canonicalInput(other.input);
}

function readEntry(entry: JsonObject, isOld = false): CallEntry {
  const { index, id, type, custom, function: named = entry }: ChatCall = entry;
  const isFunction = type === 'function' || filledText(member<ChatCallBody>(entry['function'], 'name')) !== undefined;
  const isCustom = !isFunction && (type === 'custom' || (isJsonObject(custom) && isFilled(custom)));
  const body = isCustom ? custom : (named ?? entry);
  return {
    entry,
    index: typeof index === 'number' ? index : undefined,
    // Mistral's default id is the string "null". Source: Mistral API reference, `ToolCall`.
    id: id === 'null' ? undefined : filledText(typeof id === 'number' ? String(id) : id),
    name: filledText(member<ChatCallBody>(body, 'name')),
    input: inputOf(member<ChatCallBody>(body, isCustom ? 'input' : 'arguments')),
    isCustom,
    isOld,
  };
}

/** Arguments should be text, but some vendors send an object. */
function inputOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  return isJsonObject(value) ? JSON.stringify(value) : '';
}
