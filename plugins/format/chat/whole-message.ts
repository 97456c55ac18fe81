import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Block, CompleteReply } from '../canonical/reply.ts';
import { MessageDeltas } from './message-deltas.ts';

/** The message of a whole reply: the sum of its deltas, so that both are always the same. */
export function wholeMessage({ blocks }: CompleteReply, isOld: boolean): JsonObject {
  const deltas = new MessageDeltas(isOld);
  const message: JsonObject = { role: 'assistant', content: null, refusal: null };
  for (const [index, block] of blocks.entries()) {
    for (const delta of deltasOf(deltas, index, block)) addDelta(message, delta);
  }
  for (const delta of deltas.end()) addDelta(message, delta);
  const isSilent = message['refusal'] === null && !('tool_calls' in message) && !('function_call' in message);
  // Only calls and refusals have no text; an empty answer has an empty one.
  return isSilent ? { ...message, content: message['content'] ?? '' } : message;
}

function deltasOf(deltas: MessageDeltas, index: number, block: Block): JsonObject[] {
  const text = block.type === 'tool_call' ? block.input : block.text;
  const citations = block.type === 'text' ? block.citations : [];
  return [
    ...deltas.take({ type: 'block_start', index, block }),
    ...(text === '' ? [] : deltas.take({ type: 'block_delta', index, block, text })),
    ...citations.flatMap((citation) => deltas.take({ type: 'citation', index, citation })),
    ...deltas.take({ type: 'block_stop', index, block }),
  ];
}

function addDelta(message: JsonObject, delta: JsonObject): void {
  for (const [name, value] of Object.entries(delta)) {
    if (name === 'tool_calls' && Array.isArray(value)) message[name] = addCalls(listOf(message[name]), value);
    else message[name] = add(message[name], value);
  }
}

/** Entries with a known index continue their call, others are new calls; the whole message has no indexes. */
function addCalls(calls: readonly JsonValue[], entries: readonly JsonValue[]): JsonValue[] {
  const added = [...calls];
  for (const entry of entries) {
    if (!isJsonObject(entry)) continue;
    const { index, ...said } = entry;
    added[Number(index)] = add(added[Number(index)], said);
  }
  return added;
}

/** Concatenates strings and lists, and merges objects member by member. */
function add(so: JsonValue | undefined, more: JsonValue | undefined): JsonValue {
  if (typeof so === 'string' && typeof more === 'string') return so + more;
  if (Array.isArray(more)) return [...listOf(so), ...more];
  if (!isJsonObject(so) || !isJsonObject(more)) return more ?? null;
  const members = Object.entries(more).map(([name, value]) => [name, add(so[name], value)]);
  return { ...so, ...Object.fromEntries(members) };
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
