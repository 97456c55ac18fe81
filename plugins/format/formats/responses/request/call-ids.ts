import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { asText } from '../../../wire/members.ts';
import type { ResponsesItem, ResponsesRequest } from '../../../wire/responses.ts';
import type { WireIds, WriteCallIds } from '../../adaptation/adapt-call-ids.ts';
import { mapListMember, withMember } from '../../adaptation/adapt-members.ts';

/** Calls and results of all types have the id in the same member. */
export const writeCallIds: WriteCallIds = (body: ResponsesRequest, ids) =>
  mapListMember(body, 'input', (item) => rewriteItem(item, ids));

function rewriteItem(item: JsonValue, ids: WireIds): JsonValue {
  if (!isJsonObject(item)) return item;
  const { type, role, call_id: id, name }: ResponsesItem = item;
  if (role !== undefined && role !== 'assistant') ids.endTurn();
  if (typeof id !== 'string') return item;
  const isResult = asText(type).endsWith('_output');
  return withMember(item, 'call_id', isResult ? ids.assignResultId(id) : ids.assignCallId(id, asText(name)));
}
