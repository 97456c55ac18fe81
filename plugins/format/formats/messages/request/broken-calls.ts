import { asList, readMember } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest } from '../../../wire/messages.ts';

/** Returns true if the results of a call are not at the start of the next turn, or if a result belongs to no call. */
export function hasBrokenCalls({ messages }: MessagesRequest): boolean {
  const openCallIds = new Set<unknown>();
  let followsUserTurn = false;
  for (const message of asList(messages)) {
    const role = readMember<MessagesMessage>(message, 'role');
    if (role === 'system') continue;
    if (role === 'assistant' && followsUserTurn && openCallIds.size > 0) return true;
    followsUserTurn = role !== 'assistant';
    let hasOtherBlock = false;
    for (const block of asList(readMember<MessagesMessage>(message, 'content'))) {
      const type = readMember<MessagesBlock>(block, 'type');
      if (type === 'tool_use') openCallIds.add(readMember<MessagesBlock>(block, 'id'));
      else if (type !== 'tool_result') hasOtherBlock = true;
      else if (hasOtherBlock || !openCallIds.delete(readMember<MessagesBlock>(block, 'tool_use_id'))) return true;
    }
  }
  return openCallIds.size > 0;
}
