import { asList, readMember } from '../../../wire/members.ts';
import type { MessagesMessage, MessagesRequest } from '../../../wire/messages.ts';
import { blocksOf } from '../blocks.ts';

/** Returns true if a call's results are not at the start of the next turn, or if a result belongs to no call. */
export function hasBrokenCalls({ messages }: MessagesRequest): boolean {
  const openCallIds = new Set<unknown>();
  let followsUserTurn = false;
  for (const message of asList(messages)) {
    const role = readMember<MessagesMessage>(message, 'role');
    if (role === 'system') continue;
    if (role === 'assistant' && followsUserTurn && openCallIds.size > 0) return true;
    followsUserTurn = role !== 'assistant';
    let hasOtherBlock = false;
    for (const { type, id, tool_use_id: callId } of blocksOf(message)) {
      if (type === 'tool_use') openCallIds.add(id);
      else if (type !== 'tool_result') hasOtherBlock = true;
      else if (hasOtherBlock || !openCallIds.delete(callId)) return true;
    }
  }
  return openCallIds.size > 0;
}
