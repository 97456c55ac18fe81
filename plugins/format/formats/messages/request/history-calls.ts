import { type HistoryCall } from '../../../canonical/stored-reasoning.ts';
import { asList, asText, readMember } from '../../../wire/members.ts';
import type { MessagesMessage, MessagesRequest, MessagesThinking } from '../../../wire/messages.ts';
import { blocksOf } from '../blocks.ts';

/** The vendor sends no thinking unless the request asks for it. Source: Anthropic docs, "Extended thinking". */
export function hidesReasoning({ thinking }: MessagesRequest): boolean {
  const type = readMember<MessagesThinking>(thinking, 'type');
  return type === undefined || type === null || type === 'disabled';
}

export function findHistoryCalls({ messages }: MessagesRequest): HistoryCall[] {
  return asList(messages).flatMap((message) => {
    if (readMember<MessagesMessage>(message, 'role') !== 'assistant') return [];
    const blocks = blocksOf(message);
    const lacksReasoning = !blocks.some(({ type }) => asText(type).endsWith('thinking'));
    const calls = blocks.filter(({ type }) => type === 'tool_use');
    return calls.map(({ id, name, input }) => ({
      id: asText(id),
      name: asText(name),
      input: JSON.stringify(input ?? {}),
      lacksReasoning,
    }));
  });
}
