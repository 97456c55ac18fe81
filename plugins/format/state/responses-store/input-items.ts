import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { readExchangeId } from '../../formats/responses/reply/reply-object.ts';
import { createItemId } from '../../formats/responses/reply/write-output.ts';
import type { ResponsesItem } from '../../wire/responses.ts';
import type { StoredResponse } from './rows.ts';

const pageLimits = { default: 20, max: 100 };

/**
 * Selects a page of a response's input by `limit`, `order` and `after`. By default, the latest items come first. Source: OpenAI API
 * reference, "List input items".
 *
 * @throws GatewayError `invalid_request` naming the parameter
 */
export function selectPage(storedResponse: StoredResponse, query: URLSearchParams) {
  const limit = readLimit(query.get('limit'));
  const items = storedResponse.input.map((item, index) => describeItem(item, storedResponse.id, index));
  const orderedItems = readOrder(query.get('order')) === 'asc' ? items : items.toReversed();
  const startIndex = findStart(orderedItems, query.get('after'));
  const data = orderedItems.slice(startIndex, startIndex + limit);
  return {
    object: 'list' as const,
    data,
    first_id: idOf(data[0]),
    last_id: idOf(data.at(-1)),
    has_more: startIndex + limit < orderedItems.length,
  };
}

function describeItem(item: JsonValue, responseId: string, index: number): JsonObject {
  const source: ResponsesItem = isJsonObject(item) ? item : {};
  const { content, role, id: itemId, type: itemType } = source;
  const type = typeof itemType === 'string' ? itemType : 'message';
  const id =
    typeof itemId === 'string' && itemId !== '' ? itemId : createItemId(type, readExchangeId(responseId), index);
  if (type !== 'message' || typeof content !== 'string') return { ...source, id, type };
  const part =
    role === 'assistant'
      ? { type: 'output_text', text: content, annotations: [] }
      : { type: 'input_text', text: content };
  return { ...source, id, type, status: source.status ?? 'completed', content: [part] };
}

function idOf(item: JsonObject | undefined): string | null {
  return typeof item?.['id'] === 'string' ? item['id'] : null;
}

function findStart(items: readonly JsonObject[], after: string | null): number {
  if (after === null || after === '') return 0;
  const index = items.findIndex(({ id }) => id === after);
  if (index !== -1) return index + 1;
  throw new GatewayError('invalid_request', '`after` must be the id of an item.', { param: 'after' });
}

function readLimit(text: string | null): number {
  if (text === null || text === '') return pageLimits.default;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= pageLimits.max) return limit;
  const message = `\`limit\` must be an integer from 1 to ${pageLimits.max}.`;
  throw new GatewayError('invalid_request', message, { param: 'limit' });
}

function readOrder(text: string | null): 'asc' | 'desc' {
  if (text === null || text === '' || text === 'desc') return 'desc';
  if (text === 'asc') return 'asc';
  throw new GatewayError('invalid_request', '`order` must be asc or desc.', { param: 'order' });
}
