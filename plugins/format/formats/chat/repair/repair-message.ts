import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ChoiceUpdate } from '../reply/choice-tracker.ts';
import { readMessage } from '../reply/read-reply.ts';
import type { ChatCall, ChatMessage } from '../../../wire/chat.ts';
import type { Editable } from '../../../wire/loose.ts';
import { asText } from '../../../wire/members.ts';

/** Members in which vendors give reasoning as text; clients read both. */
const reasoningNames = ['reasoning_content', 'reasoning'] as const;

export interface MessageRepair {
  /** The entries of `tool_calls`; undefined leaves them alone. */
  readonly entries: readonly ChatCall[] | undefined;
  readonly needsRole: boolean;
  /** False for a delta. */
  readonly isWhole: boolean;
}

/** The delta or message with what it adds to the answer, every other member kept; the very same one when it is clean. */
export function repairMessage(given: ChatMessage, addition: ChoiceUpdate, repair: MessageRepair): ChatMessage {
  const changes = {
    ...(repair.needsRole && { role: 'assistant' }),
    ...textChanges(given, addition, repair),
    ...reasoningChanges(given, addition),
    ...(asText(given.refusal) !== addition.refusal && { refusal: addition.refusal }),
  };
  const { entries } = repair;
  if (entries === undefined || hasEntries(given, entries)) {
    return Object.keys(changes).length === 0 ? given : { ...given, ...changes };
  }
  const { tool_calls: _calls, function_call: _call, ...members } = given;
  return { ...members, ...changes, ...(entries.length > 0 && { tool_calls: [...entries] }) };
}

/** True when the calls of a message are these very entries. */
function hasEntries({ tool_calls = null, function_call }: ChatMessage, entries: readonly ChatCall[]): boolean {
  if (isJsonObject(function_call)) return false;
  if (tool_calls === null) return entries.length === 0;
  if (!Array.isArray(tool_calls) || tool_calls.length !== entries.length) return false;
  return entries.every((entry, at) => entry === tool_calls[at]);
}

function textChanges(
  { content }: ChatMessage,
  addition: ChoiceUpdate,
  { isWhole, entries = [] }: MessageRepair,
): ChatMessage {
  const isText = content === undefined || content === null || typeof content === 'string';
  if (isText && asText(content) === addition.text) return {};
  // Only calls have no text.
  return { content: addition.text === '' && isWhole && entries.length > 0 ? null : addition.text };
}

function reasoningChanges(given: ChatMessage, { reasoning }: ChoiceUpdate): ChatMessage {
  const names = reasoningNames.filter((name) => asText(given[name]) !== '');
  const changes: Editable<ChatMessage> = {};
  for (const name of names) if (given[name] !== reasoning) changes[name] = reasoning;
  if (names.length === 0 && reasoning !== '') changes.reasoning_content = reasoning;
  return { ...changes, ...(names.length === 0 && detailChanges(given, reasoning)) };
}

/** MiniMax repeats all reasoning in each of its details. */
function detailChanges(given: ChatMessage, reasoning: string): ChatMessage {
  const { reasoning: repeated, isDetailed } = readMessage(given);
  if (!isDetailed || repeated === reasoning) return {};
  const [first] = listOf(given.reasoning_details);
  return { reasoning_details: reasoning === '' ? [] : [{ ...first, text: reasoning }] };
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return (Array.isArray(value) ? value : [value]).filter(isJsonObject);
}
