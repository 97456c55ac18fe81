import type { ChatCall, ChatCallBody, ChatMessage, ChatRequest } from '../../../wire/chat.ts';
import { asList, asText, readMember } from '../../../wire/members.ts';

export function hasBrokenCalls({ messages }: ChatRequest): boolean {
  const openIds = new Set<unknown>();
  for (const message of asList(messages)) {
    if (readMember<ChatMessage>(message, 'role') === 'tool') {
      if (!openIds.delete(readMember<ChatMessage>(message, 'tool_call_id'))) return true;
      continue;
    }
    if (openIds.size > 0) return true;
    for (const call of asList(readMember<ChatMessage>(message, 'tool_calls'))) {
      const input = readMember<ChatCallBody>(readMember<ChatCall>(call, 'function'), 'arguments');
      if (typeof input === 'string' && asText(input).trim() === '') return true;
      openIds.add(readMember<ChatCall>(call, 'id'));
    }
  }
  return openIds.size > 0;
}
