import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { normalizeInput } from '../../canonical/stored-reasoning.ts';
import { asList, asText } from '../../wire/members.ts';
import type { ResponsesItem, ResponsesPart } from '../../wire/responses.ts';

export function omitRepeatedAnswer(items: readonly JsonValue[], answer: readonly JsonValue[]): readonly JsonValue[] {
  const repeatedIndexes = findRepeatedAnswer(items, answer);
  return repeatedIndexes.size === 0 ? items : items.filter((_item, index) => !repeatedIndexes.has(index));
}

/**
 * Finds the items of a request that repeat the answer that it continues. CAMEL sends the answer's text and calls again, together with the
 * results. A repeated call would be a second call without a result, which vendors refuse.
 *
 * @returns their indexes
 */
export function findRepeatedAnswer(items: readonly JsonValue[], answer: readonly JsonValue[]): ReadonlySet<number> {
  const openCalls = answer.flatMap((item) => identifyCall(item) ?? []);
  if (openCalls.length === 0) return new Set();
  const repeatedIndexes = new Set<number>();
  for (const [index, item] of items.entries()) {
    const call = identifyCall(item);
    const position = call === undefined ? -1 : openCalls.indexOf(call);
    if (position === -1) continue;
    // Each call is matched once, because an upstream may give several calls in an answer the same id.
    openCalls.splice(position, 1);
    repeatedIndexes.add(index);
  }
  if (repeatedIndexes.size === 0) return repeatedIndexes;
  const texts = new Set(answer.flatMap((item) => readAnswerText(item) ?? []));
  const firstCall = Math.min(...repeatedIndexes);
  for (const [index, item] of items.slice(0, firstCall).entries()) {
    const text = readAnswerText(item);
    if (text !== undefined && texts.has(text)) repeatedIndexes.add(index);
  }
  return repeatedIndexes;
}

function identifyCall(item: JsonValue): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const { type, call_id: id, name, arguments: argumentsText, input }: ResponsesItem = item;
  if (typeof id !== 'string' || !asText(type).endsWith('_call')) return undefined;
  // Without the item's own id, which some clients do not keep.
  return JSON.stringify([type, id, asText(name), normalizeInput(asText(argumentsText)), asText(input)]);
}

function readAnswerText(item: JsonValue): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const { role, content }: ResponsesItem = item;
  if (role !== 'assistant') return undefined;
  if (typeof content === 'string') return content;
  return asList(content)
    .map((part) => (isJsonObject(part) ? asText((part as ResponsesPart).text) : ''))
    .join('');
}
