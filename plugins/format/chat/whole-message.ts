import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Block, CompleteReply } from '../canonical/reply.ts';
import { MessageDeltas } from './message-deltas.ts';

/** The message of a whole reply: what the deltas of its blocks add up to, so that both always say the same. */
export function wholeMessage({ blocks }: CompleteReply, isOld: boolean): JsonObject {
  const deltas = new MessageDeltas(isOld);
  const message: JsonObject = { role: 'assistant', content: null, refusal: null };
  for (const [index, block] of blocks.entries()) {
    for (const delta of deltasOf(deltas, index, block)) addDelta(message, delta);
  }
  for (const delta of deltas.end()) addDelta(message, delta);
  const isSilent = message['refusal'] === null && !('tool_calls' in message) && !('function_call' in message);
  // Without text stand only calls and refusals; an answer of nothing is an empty one.
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

/** Entries of a known index go on with their call, all others are calls of their own; the whole has no indexes. */
function addCalls(calls: readonly JsonValue[], entries: readonly JsonValue[]): JsonValue[] {
  const added = [...calls];
  for (const entry of entries) {
    if (!isJsonObject(entry)) continue;
    const { index, ...said } = entry;
    added[Number(index)] = add(added[Number(index)], said);
  }
  return added;
}

/** Texts go on, lists grow, objects member by member. */
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
