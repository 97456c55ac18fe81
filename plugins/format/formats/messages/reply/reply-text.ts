import { isJsonObject } from '#core/platform/json.ts';
import type { ObjectEvent, ReplyText, TextBlocks } from '#core/config/catalog/reply-text.ts';
import type { MessagesBlock, MessagesDelta, MessagesEvent, MessagesReply } from '../../../wire/messages.ts';
import type { Editable } from '../../../wire/loose.ts';
import { scalarText } from '../../../wire/members.ts';

/** The texts of Messages: the text blocks. Held-back text is sent as a delta before the block stops. */
export const messagesReplyText: ReplyText = {
  mapReply({ content }: MessagesReply, blocks) {
    for (const [index, block] of (Array.isArray(content) ? content : []).entries()) {
      if (isJsonObject(block) && typeOf(block) === 'text') mapMember(block, String(index), blocks, true);
    }
  },
  mapEvents: (blocks) => {
    const open = new Set<string>();
    return (event) => {
      const { type, index, content_block: started, delta }: MessagesEvent = event.data;
      const block = scalarText(index);
      if (type === 'content_block_start' && isJsonObject(started) && typeOf(started) === 'text') {
        open.add(block);
        return mapMember(started, block, blocks) ? [event] : undefined;
      }
      if (type === 'content_block_delta' && isJsonObject(delta) && typeOf(delta) === 'text_delta')
        return mapMember(delta, block, blocks) ? [event] : undefined;
      if (type !== 'content_block_stop' || !open.delete(block)) return undefined;
      const held = blocks.end(block);
      return held === '' ? undefined : [textDelta(event.data, held), event];
    };
  },
};

function textDelta({ index }: MessagesEvent, text: string): ObjectEvent {
  const type = 'content_block_delta';
  return { name: type, data: { type, index, delta: { type: 'text_delta', text } } };
}

function typeOf({ type }: MessagesBlock | MessagesDelta): MessagesBlock['type'] {
  return type;
}

/** True when the text has changed. */
function mapMember(holder: Editable<MessagesBlock>, block: string, blocks: TextBlocks, isWhole = false): boolean {
  const { text } = holder;
  if (typeof text !== 'string') return false;
  const mapped = blocks.push(block, text) + (isWhole ? blocks.end(block) : '');
  holder.text = mapped;
  return mapped !== text;
}
