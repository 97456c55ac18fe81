import type { JsonObject } from '#core/platform/json.ts';
import { describeImage } from '../../../canonical/generated-images.ts';
import type { Block, BlockHead, Citation, CompleteReply } from '../../../canonical/reply.ts';
import { toArgumentsObject } from '../../../canonical/tools.ts';
import type { MessagesBlock, MessagesCitation } from '../../../wire/messages.ts';
import { stopReasons } from './finish.ts';

type BlockOf<Type extends Block['type']> = Extract<Block, { type: Type }>;

const caller = { type: 'direct' } as const; // the model itself, not code that it runs

/** The encoder opens reasoning itself. */
export function writeOpenBlock(head: BlockHead): MessagesBlock {
  if (head.type === 'tool_call') return { type: 'tool_use', id: head.id, name: head.name, input: {}, caller };
  return writeText('');
}

export function writeBlock(block: Block): MessagesBlock {
  switch (block.type) {
    case 'text': {
      const citations = block.citations.map(writeCitation);
      return { ...writeText(block.text), ...(citations.length > 0 && { citations }) };
    }
    case 'refusal':
      return writeText(block.text);
    case 'image':
      // Never reached, because the descriptor declares that replies have no images.
      return writeText(describeImage(block.source));
    case 'reasoning':
      return block.isRedacted
        ? { type: 'redacted_thinking', data: block.state }
        : { type: 'thinking', thinking: block.text, signature: block.state };
    case 'tool_call':
      return { type: 'tool_use', id: block.id, name: block.name, input: toArgumentsObject(block), caller };
  }
}

function writeText(text: string): MessagesBlock {
  // Anthropic omits `citations` if there are none, and AI SDK 5 and 6 reject null.
  return { type: 'text', text };
}

/** In a stream, an input that begins as an object is sent unchanged. */
export function writeArguments(call: BlockOf<'tool_call'>, isStream: boolean): string {
  const isUnchanged = isStream && call.form !== 'freeform' && call.input.trimStart().startsWith('{');
  return isUnchanged ? call.input : JSON.stringify(toArgumentsObject(call));
}

/** The format has no positions within the text, so a citation is for the whole block. */
export function writeCitation({ url, title, quote }: Citation): MessagesCitation {
  return {
    type: 'web_search_result_location',
    url,
    title: title ?? null,
    encrypted_index: '',
    cited_text: quote ?? '',
  };
}

export interface Ending extends JsonObject {
  readonly container: null;
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly stop_details: JsonObject | null;
}

export const noEnding = { container: null, stop_reason: null, stop_sequence: null, stop_details: null } as const;

/** A refusal always has its own reason, regardless of what the vendor reported. */
export function writeEnding({ blocks, finish, stopSequence }: CompleteReply): Ending {
  const refusal = blocks.find((block) => block.type === 'refusal');
  const isRefusal = finish === 'content_filter' || (finish === 'stop' && refusal !== undefined);
  return {
    container: null,
    stop_reason: isRefusal ? stopReasons.content_filter : stopReasons[finish],
    stop_sequence: finish === 'stop_sequence' ? (stopSequence ?? null) : null,
    stop_details: isRefusal ? { type: 'refusal', category: null, explanation: refusal?.text ?? null } : null,
  };
}
