import type { ObjectEvent, ReplyText, TextBlocks } from '#core/config/catalog/reply-text.ts';
import { isJsonObject } from '#core/platform/json.ts';
import type { Editable } from '../../../wire/loose.ts';
import { scalarToText } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesDelta, MessagesEvent, MessagesReply } from '../../../wire/messages.ts';

/** Maps in place. Text that was held back is sent as a delta before the block stops. */
export const messagesReplyText: ReplyText = {
  mapReply({ content }: MessagesReply, blocks) {
    for (const [index, block] of (Array.isArray(content) ? content : []).entries()) {
      if (isJsonObject(block) && typeOf(block) === 'text') mapText(block, String(index), blocks, { isComplete: true });
    }
  },
  mapEvents: (blocks) => {
    const openBlocks = new Set<string>();
    return (event) => {
      const { type, index, content_block: startedBlock, delta }: MessagesEvent = event.data;
      const blockKey = scalarToText(index);
      if (type === 'content_block_start' && isJsonObject(startedBlock) && typeOf(startedBlock) === 'text') {
        openBlocks.add(blockKey);
        return mapText(startedBlock, blockKey, blocks) ? [event] : undefined;
      }
      if (type === 'content_block_delta' && isJsonObject(delta) && typeOf(delta) === 'text_delta')
        return mapText(delta, blockKey, blocks) ? [event] : undefined;
      if (type !== 'content_block_stop' || !openBlocks.delete(blockKey)) return undefined;
      const heldText = blocks.end(blockKey);
      return heldText === '' ? undefined : [createTextDelta(event.data, heldText), event];
    };
  },
};

function createTextDelta({ index }: MessagesEvent, text: string): ObjectEvent {
  const type = 'content_block_delta';
  return { name: type, data: { type, index, delta: { type: 'text_delta', text } } };
}

function typeOf({ type }: MessagesBlock | MessagesDelta): MessagesBlock['type'] {
  return type;
}

/** Maps in place. Returns true if the text has changed. */
function mapText(
  holder: Editable<MessagesBlock>,
  blockKey: string,
  blocks: TextBlocks,
  { isComplete = false } = {},
): boolean {
  const { text } = holder;
  if (typeof text !== 'string') return false;
  const mapped = blocks.push(blockKey, text) + (isComplete ? blocks.end(blockKey) : '');
  holder.text = mapped;
  return mapped !== text;
}
