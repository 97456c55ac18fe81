import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { asText } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest } from '../../../wire/messages.ts';
import type { WireIds, WriteCallIds } from '../../adaptation/adapt-call-ids.ts';
import { mapListMember, withMember } from '../../adaptation/adapt-members.ts';

export const writeCallIds: WriteCallIds = (body: MessagesRequest, ids) =>
  mapListMember(body, 'messages', (message) => rewriteMessage(message, ids));

function rewriteMessage(message: JsonValue, ids: WireIds): JsonValue {
  if (!isJsonObject(message)) return message;
  const rewrittenMessage = mapListMember<MessagesMessage>(message, 'content', (block) => rewriteBlock(block, ids));
  if (message['role'] !== 'assistant') ids.endTurn();
  return rewrittenMessage;
}

function rewriteBlock(block: JsonValue, ids: WireIds): JsonValue {
  if (!isJsonObject(block)) return block;
  const { type, id, tool_use_id: callId, name }: MessagesBlock = block;
  if (type === 'tool_use' && typeof id === 'string') return withMember(block, 'id', ids.assignCallId(id, asText(name)));
  if (type === 'tool_result' && typeof callId === 'string')
    return withMember(block, 'tool_use_id', ids.assignResultId(callId));
  return block;
}
