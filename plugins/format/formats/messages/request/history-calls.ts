import { type HistoryCall } from '../../../canonical/stored-reasoning.ts';
import { asList, asText, readMember } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest, MessagesThinking } from '../../../wire/messages.ts';

/** Returns true if the client did not request thinking, so the vendor sends none. Source: Anthropic docs, "Extended thinking". */
export function hidesReasoning({ thinking }: MessagesRequest): boolean {
  const type = readMember<MessagesThinking>(thinking, 'type');
  return type === undefined || type === null || type === 'disabled';
}

/** Lists the calls of a history. A call lacks reasoning if its message has no thinking. */
export function findHistoryCalls({ messages }: MessagesRequest): HistoryCall[] {
  return asList(messages).flatMap((message) => {
    if (readMember<MessagesMessage>(message, 'role') !== 'assistant') return [];
    const blocks = asList(readMember<MessagesMessage>(message, 'content'));
    const lacksReasoning = !blocks.some((block) =>
      asText(readMember<MessagesBlock>(block, 'type')).endsWith('thinking'),
    );
    return blocks
      .filter((block) => readMember<MessagesBlock>(block, 'type') === 'tool_use')
      .map((block) => ({
        id: asText(readMember<MessagesBlock>(block, 'id')),
        name: asText(readMember<MessagesBlock>(block, 'name')),
        input: JSON.stringify(readMember<MessagesBlock>(block, 'input') ?? {}),
        lacksReasoning,
      }));
  });
}
