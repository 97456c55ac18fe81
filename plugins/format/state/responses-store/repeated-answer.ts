import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { normalizeInput } from '../../canonical/stored-reasoning.ts';
import { asList, asText } from '../../wire/members.ts';
import type { ResponsesItem, ResponsesPart } from '../../wire/responses.ts';

/**
 * Omits the items of a request that repeat the answer that the request continues. CAMEL sends the text and the calls of the answer again,
 * together with the results. A repeated call would be a second call without a result, which vendors refuse.
 *
 * @param items the request's own items
 * @param answer the output of the continued response
 */
export function omitRepeatedAnswer(items: readonly JsonValue[], answer: readonly JsonValue[]): readonly JsonValue[] {
  const openCalls = answer.flatMap((item) => identifyCall(item) ?? []);
  if (openCalls.length === 0) return items;
  const repeatedIndexes = new Set<number>();
  for (const [index, item] of items.entries()) {
    const call = identifyCall(item);
    const position = call === undefined ? -1 : openCalls.indexOf(call);
    if (position === -1) continue;
    // Each call is matched once, because an upstream may give several calls of an answer the same id.
    openCalls.splice(position, 1);
    repeatedIndexes.add(index);
  }
  if (repeatedIndexes.size === 0) return items;
  const texts = new Set(answer.flatMap((item) => readAnswerText(item) ?? []));
  const firstCall = Math.min(...repeatedIndexes);
  return items.filter((item, index) => {
    const text = index < firstCall ? readAnswerText(item) : undefined;
    return !repeatedIndexes.has(index) && (text === undefined || !texts.has(text));
  });
}

/** Returns a text that is equal for equal calls; undefined for other items. Ignores the item's id, because some clients do not keep it. */
function identifyCall(item: JsonValue): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const { type, call_id: id, name, arguments: argumentsText, input }: ResponsesItem = item;
  if (typeof id !== 'string' || !asText(type).endsWith('_call')) return undefined;
  return JSON.stringify([type, id, asText(name), normalizeInput(asText(argumentsText)), asText(input)]);
}

/** Reads the text of an assistant's message; undefined for other items. */
function readAnswerText(item: JsonValue): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const { role, content }: ResponsesItem = item;
  if (role !== 'assistant') return undefined;
  if (typeof content === 'string') return content;
  return asList(content)
    .map((part) => (isJsonObject(part) ? asText((part as ResponsesPart).text) : ''))
    .join('');
}
