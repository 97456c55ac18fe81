import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { asText, member } from '../../../wire/members.ts';
import type { ChatCall, ChatCallBody, ChatMessage, ChatRequest } from '../../../wire/chat.ts';
import type { WireIds, WriteCallIds } from '../../adaptation/adapt-call-ids.ts';
import { mapMember, withMember } from '../../adaptation/adapt-members.ts';

/** Maximum length of a call id on OpenAI's endpoint, in characters. The Responses endpoint accepts longer ids. */
export const longestCallId = 40;

/** Rewrites the ids of calls and results. Calls in the deprecated form have no ids. */
export const writeCallIds: WriteCallIds = (body: ChatRequest, ids) =>
  mapMember(body, 'messages', (message) => inMessage(message, ids));

function inMessage(message: JsonValue, ids: WireIds): JsonValue {
  if (!isJsonObject(message)) return message;
  const { role, tool_call_id: id }: ChatMessage = message;
  if (role === 'tool') return typeof id === 'string' ? withMember(message, 'tool_call_id', ids.result(id)) : message;
  if (role !== 'assistant') ids.endTurn();
  return mapMember(message, 'tool_calls', (call) => inCall(call, ids));
}

function inCall(call: JsonValue, ids: WireIds): JsonValue {
  if (!isJsonObject(call)) return call;
  const { id, function: named, custom }: ChatCall = call;
  const name = asText(member<ChatCallBody>(named ?? custom, 'name'));
  return typeof id === 'string' ? withMember(call, 'id', ids.call(id, name)) : call;
}
