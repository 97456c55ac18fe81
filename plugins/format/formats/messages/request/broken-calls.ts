import { asList, member } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest } from '../../../wire/messages.ts';

/** True when the results of a call are not at the beginning of the next turn, or a result belongs to no call. */
export function hasBrokenCalls({ messages }: MessagesRequest): boolean {
  const open = new Set<unknown>();
  let isAnswering = false;
  for (const message of asList(messages)) {
    const role = member<MessagesMessage>(message, 'role');
    if (role === 'system') continue;
    if (role === 'assistant' && isAnswering && open.size > 0) return true;
    isAnswering = role !== 'assistant';
    let hasOther = false;
    for (const block of asList(member<MessagesMessage>(message, 'content'))) {
      const type = member<MessagesBlock>(block, 'type');
      if (type === 'tool_use') open.add(member<MessagesBlock>(block, 'id'));
      else if (type !== 'tool_result') hasOther = true;
      else if (hasOther || !open.delete(member<MessagesBlock>(block, 'tool_use_id'))) return true;
    }
  }
  return open.size > 0;
}
