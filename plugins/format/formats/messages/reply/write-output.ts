import type { JsonObject } from '#core/platform/json.ts';
import type { Block, BlockHead, Citation, CompleteReply, FinishReason } from '../../../canonical/reply.ts';
import { parseInput } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesCitation } from '../../../wire/messages.ts';

type BlockOf<Type extends Block['type']> = Extract<Block, { type: Type }>;

/** An empty block, as it opens. `MessagesEncoder` opens reasoning itself. */
export function writeOpenBlock(head: BlockHead): MessagesBlock {
  if (head.type === 'tool_call') return { type: 'tool_use', id: head.id, name: head.name, input: {} };
  return { type: 'text', text: '' };
}

export function writeBlock(block: Block): MessagesBlock {
  switch (block.type) {
    case 'text': {
      const citations = block.citations.map(writeCitation);
      return { type: 'text', text: block.text, ...(citations.length > 0 && { citations }) };
    }
    case 'refusal':
      return { type: 'text', text: block.text };
    case 'reasoning':
      return block.isRedacted
        ? { type: 'redacted_thinking', data: block.state }
        : { type: 'thinking', thinking: block.text, signature: block.state };
    case 'tool_call':
      return { type: 'tool_use', id: block.id, name: block.name, input: inputObject(block) };
  }
}

/** Wraps input that is not an object, because it was truncated or malformed. */
export function inputObject({ form, input }: BlockOf<'tool_call'>): JsonObject {
  return form === 'freeform' ? { input } : (parseInput(input) ?? { _raw: input });
}

/** The format has no positions in its own text: a citation belongs to the block. */
export function writeCitation({ url, title, quote }: Citation): MessagesCitation {
  return {
    type: 'web_search_result_location',
    url,
    title: title ?? null,
    encrypted_index: '',
    cited_text: quote ?? '',
  };
}

const stopReasons: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  context_length: 'model_context_window_exceeded',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
  pause: 'pause_turn',
};

export interface Ending extends JsonObject {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly stop_details: JsonObject | null;
}

/** The finish reason. A refusal has its own, whatever the vendor reports. */
export function writeEnding({ blocks, finish, stopSequence }: CompleteReply): Ending {
  const refusal = blocks.find((block) => block.type === 'refusal');
  const isRefusal = finish === 'content_filter' || (finish === 'stop' && refusal !== undefined);
  return {
    stop_reason: isRefusal ? stopReasons.content_filter : stopReasons[finish],
    stop_sequence: finish === 'stop_sequence' ? (stopSequence ?? null) : null,
    stop_details: isRefusal ? { type: 'refusal', category: null, explanation: refusal?.text ?? null } : null,
  };
}
