import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { readReportedError } from '#core/model-call/upstream-error.ts';
import type { ReplyContext } from '../../canonical/codec.ts';
import { newItemId, repairItem, textOr, typeOf } from './repair-item.ts';
import { repairResponse } from './repair-response.ts';
import { responseId } from '../reply-object.ts';

const finished = new Set<JsonValue | undefined>(['completed', 'incomplete', undefined, null]);

/** A whole reply with what clients expect; the very same object when it has that, or reports an error. */
export function repairWhole(body: JsonObject, context: ReplyContext): JsonObject {
  const { status, output, output_text: text } = body;
  if (!finished.has(status) || readReportedError(body) !== undefined) return body;
  const listed = Array.isArray(output) ? output : undefined;
  const given = listed === undefined || listed.length === 0 ? (itemsOf(text) ?? listed) : listed;
  if (given === undefined) return body;
  const end = status === 'incomplete' ? 'incomplete' : 'completed';
  const items = given.filter(isJsonObject).map((item, index) => repairOutputItem(item, index, end, context.id));
  const isSame = items.length === given.length && items.every((item, index) => item === given[index]);
  return repairResponse(body, end, isSame ? given : items, textOr(body['id'], responseId(context)), context);
}

function repairOutputItem(item: JsonObject, index: number, status: string, id: string): JsonObject {
  const itemId = textOr(item['id'], newItemId(typeOf(item), id, index));
  return repairItem(item, { id: itemId, callId: textOr(item['id'], `call_${id}_${index}`) }, status);
}

/** The words of the SDK's convenience, which some vendors send in place of the output; undefined without any. */
function itemsOf(text: JsonValue | undefined): JsonValue[] | undefined {
  return typeof text === 'string' && text !== '' ? [{ type: 'message', content: text }] : undefined;
}
