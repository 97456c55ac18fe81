import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ChatCall, ChatCallBody, ChatMessage, ChatRequest } from '../../../wire/chat.ts';
import { asText, readMember } from '../../../wire/members.ts';
import type { WireIds, WriteCallIds } from '../../adaptation/adapt-call-ids.ts';
import { mapListMember, withMember } from '../../adaptation/adapt-members.ts';

/** The longest call id that OpenAI's Chat endpoint accepts, in characters. Its Responses endpoint accepts longer ones. */
export const maxCallIdLength = 40;

/** Calls in the deprecated form have no ids. */
export const writeCallIds: WriteCallIds = (body: ChatRequest, ids) =>
  mapListMember(body, 'messages', (message) => rewriteMessage(message, ids));

function rewriteMessage(message: JsonValue, ids: WireIds): JsonValue {
  if (!isJsonObject(message)) return message;
  const { role, tool_call_id: id }: ChatMessage = message;
  if (role === 'tool')
    return typeof id === 'string' ? withMember(message, 'tool_call_id', ids.assignResultId(id)) : message;
  if (role !== 'assistant') ids.endTurn();
  return mapListMember(message, 'tool_calls', (call) => rewriteCall(call, ids));
}

function rewriteCall(call: JsonValue, ids: WireIds): JsonValue {
  if (!isJsonObject(call)) return call;
  const { id, function: namedFunction, custom }: ChatCall = call;
  const name = asText(readMember<ChatCallBody>(namedFunction ?? custom, 'name'));
  return typeof id === 'string' ? withMember(call, 'id', ids.assignCallId(id, name)) : call;
}
