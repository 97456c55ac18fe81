import { asList, asText, member } from '../../../wire/members.ts';
import type { ChatCall, ChatCallBody, ChatMessage, ChatRequest } from '../../../wire/chat.ts';

/** True when a call has empty arguments, its results do not follow it, or a result belongs to no call. */
export function hasBrokenCalls({ messages }: ChatRequest): boolean {
  const open = new Set<unknown>();
  for (const message of asList(messages)) {
    if (member<ChatMessage>(message, 'role') === 'tool') {
      if (!open.delete(member<ChatMessage>(message, 'tool_call_id'))) return true;
      continue;
    }
    if (open.size > 0) return true;
    for (const call of asList(member<ChatMessage>(message, 'tool_calls'))) {
      const input = member<ChatCallBody>(member<ChatCall>(call, 'function'), 'arguments');
      if (typeof input === 'string' && asText(input).trim() === '') return true;
      open.add(member<ChatCall>(call, 'id'));
    }
  }
  return open.size > 0;
}
