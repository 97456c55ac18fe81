import type { ReplyText, TextBlocks } from '#core/config/catalog/reply-text.ts';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ChatChoice, ChatMessage } from '../../../wire/chat.ts';
import type { Editable } from '../../../wire/loose.ts';
import { scalarToText } from '../../../wire/members.ts';
import { readChoices } from './read-reply.ts';

const textMembers = ['content', 'refusal'] as const;

/** The last chunk carries text that was held back. */
export const chatReplyText: ReplyText = {
  mapReply(reply, blocks) {
    for (const choice of readChoices(reply)) mapChoice(choice, choice.message, true, blocks);
  },
  mapEvents: (blocks) => (event) => {
    const hasChanged = readChoices(event.data).map((choice) => {
      const isLast = (choice.finish_reason ?? null) !== null;
      if (isLast) choice.delta ??= {};
      return mapChoice(choice, choice.delta, isLast, blocks);
    });
    return hasChanged.includes(true) ? [event] : undefined;
  },
};

/** Maps in place. Returns true if any text has changed. */
function mapChoice(
  choice: Editable<ChatChoice>,
  message: JsonValue | undefined,
  isLast: boolean,
  blocks: TextBlocks,
): boolean {
  if (!isJsonObject(message)) return false;
  const texts: Editable<ChatMessage> = message;
  let hasChanged = false;
  for (const name of textMembers) {
    const block = `${scalarToText(choice.index ?? 0)}/${name}`;
    const text = texts[name];
    let mapped = typeof text === 'string' ? blocks.push(block, text) : '';
    if (isLast) mapped += blocks.end(block);
    if (typeof text !== 'string' && mapped === '') continue;
    hasChanged ||= mapped !== text;
    texts[name] = mapped;
  }
  // Log probabilities would still contain the original words.
  if (hasChanged && isJsonObject(choice.logprobs)) choice.logprobs = null;
  return hasChanged;
}
