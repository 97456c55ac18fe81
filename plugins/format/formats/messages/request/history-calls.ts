import { type HistoryCall } from '../../../canonical/stored-reasoning.ts';
import { asList, asText, member } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest, MessagesThinking } from '../../../wire/messages.ts';

/** True if the client did not request thinking, so the vendor sends none. Source: Anthropic docs, "Extended thinking". */
export function hidesReasoning({ thinking }: MessagesRequest): boolean {
  const type = member<MessagesThinking>(thinking, 'type');
  return type === undefined || type === null || type === 'disabled';
}

/** Lists the calls of a history. A call lacks reasoning if its message has no thinking. */
export function callsInHistory({ messages }: MessagesRequest): HistoryCall[] {
  return asList(messages).flatMap((message) => {
    if (member<MessagesMessage>(message, 'role') !== 'assistant') return [];
    const blocks = asList(member<MessagesMessage>(message, 'content'));
    const lacksReasoning = !blocks.some((block) => asText(member<MessagesBlock>(block, 'type')).endsWith('thinking'));
    return blocks
      .filter((block) => member<MessagesBlock>(block, 'type') === 'tool_use')
      .map((block) => ({
        id: asText(member<MessagesBlock>(block, 'id')),
        name: asText(member<MessagesBlock>(block, 'name')),
        input: JSON.stringify(member<MessagesBlock>(block, 'input') ?? {}),
        lacksReasoning,
      }));
  });
}
