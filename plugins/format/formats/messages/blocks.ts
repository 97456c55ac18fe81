import { isJsonObject, listObjects, readMember, type JsonValue } from '#core/platform/json.ts';
import type { MessagesBlock, MessagesMessage } from '../../wire/messages.ts';
import { mapEntries, withMember } from '../adaptation/adapt-members.ts';

export function blocksOf(message: JsonValue | undefined): readonly MessagesBlock[] {
  return listObjects(readMember<MessagesMessage>(message, 'content'));
}

/** Removes blocks without a replacement, and messages that have no blocks left. Returns the same list if no block changes. */
export function mapBlocks(
  messages: JsonValue[],
  change: (block: MessagesBlock, message: MessagesMessage) => JsonValue | undefined,
): JsonValue[] {
  const changedMessages = mapEntries(messages, (message) => {
    const content = readMember<MessagesMessage>(message, 'content');
    if (!isJsonObject(message) || !Array.isArray(content)) return message;
    const blocks = mapEntries(content, (block) => (isJsonObject(block) ? (change(block, message) ?? null) : block));
    if (blocks === content) return message;
    const remainingBlocks = blocks.filter((block) => block !== null);
    return remainingBlocks.length === 0 ? null : withMember(message, 'content', remainingBlocks);
  });
  return changedMessages === messages ? messages : changedMessages.filter((message) => message !== null);
}
