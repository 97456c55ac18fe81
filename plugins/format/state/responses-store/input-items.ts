import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { createItemId } from '../../formats/responses/reply/write-output.ts';
import type { StoredResponse } from './rows.ts';
import type { ResponsesItem } from '../../wire/responses.ts';

/** A page of items. Source: OpenAI API reference, "List input items". */
interface ItemPage {
  readonly object: 'list';
  readonly data: readonly JsonObject[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

const limits = { default: 20, max: 100 };

/**
 * The page of a response's input selected by `limit`, `order` and `after`; the latest items come first by default.
 *
 * @throws GatewayError `invalid_request` naming the parameter
 */
export function pageOf(stored: StoredResponse, query: URLSearchParams): ItemPage {
  const limit = readLimit(query.get('limit'));
  const all = stored.input.map((item, index) => present(item, stored.id, index));
  const ordered = readOrder(query.get('order')) === 'asc' ? all : all.toReversed();
  const begin = beginAfter(ordered, query.get('after'));
  const data = ordered.slice(begin, begin + limit);
  return {
    object: 'list',
    data,
    first_id: idOf(data[0]),
    last_id: idOf(data.at(-1)),
    has_more: begin + limit < ordered.length,
  };
}

/** An item as shown in lists: with a type, an id, and content as parts. */
function present(item: JsonValue, responseId: string, index: number): JsonObject {
  const given: ResponsesItem = isJsonObject(item) ? item : {};
  const { content, role, id: own, type: named } = given;
  const type = typeof named === 'string' ? named : 'message';
  const id = typeof own === 'string' && own !== '' ? own : createItemId(type, responseId.replace(/^resp_/, ''), index);
  if (type !== 'message' || typeof content !== 'string') return { ...given, id, type };
  const part = role === 'assistant' ? { type: 'output_text', text: content, annotations: [] } : textPart(content);
  return { ...given, id, type, status: given.status ?? 'completed', content: [part] };
}

function textPart(text: string): JsonObject {
  return { type: 'input_text', text };
}

function idOf(item: JsonObject | undefined): string | null {
  return typeof item?.['id'] === 'string' ? item['id'] : null;
}

function beginAfter(items: readonly JsonObject[], after: string | null): number {
  if (after === null || after === '') return 0;
  const index = items.findIndex(({ id }) => id === after);
  if (index !== -1) return index + 1;
  throw new GatewayError('invalid_request', '`after` must be the id of an item.', { param: 'after' });
}

function readLimit(text: string | null): number {
  if (text === null || text === '') return limits.default;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= limits.max) return limit;
  const message = `\`limit\` must be an integer from 1 to ${limits.max}.`;
  throw new GatewayError('invalid_request', message, { param: 'limit' });
}

function readOrder(text: string | null): 'asc' | 'desc' {
  if (text === null || text === '' || text === 'desc') return 'desc';
  if (text === 'asc') return 'asc';
  throw new GatewayError('invalid_request', '`order` must be asc or desc.', { param: 'order' });
}
