import { renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { ReplyContext, ReplyEncoder } from '../../../canonical/codec.ts';
import {
  type Block,
  type BlockHead,
  type CompleteReply,
  paragraphBreak,
  type ReplyEvent,
} from '../../../canonical/reply.ts';
import { toArgumentsObject } from '../../../canonical/tools.ts';
import { withoutUndefined } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesDelta, MessagesEvent, MessagesReply } from '../../../wire/messages.ts';
import { writeUsage, writeMessageUsage } from './finish.ts';
import { type Ending, noEnding, writeBlock, writeCitation, writeEnding, writeOpenBlock } from './write-output.ts';

/**
 * Writes a Messages reply. Source: Anthropic API reference, "Streaming Messages"; what MessageStream in the anthropic SDK and Claude Code
 * require.
 */
export class MessagesEncoder implements ReplyEncoder {
  readonly #context: ReplyContext;
  /** True while the type of a reasoning block is undecided: text, or the end of the block, decides it. */
  #isHeldBack = false;
  /** Kind of the input, judged by its first character; undefined if the input is only white space so far. */
  #inputStart: 'object' | 'other' | undefined;
  #separator = '';
  #lastType: BlockHead['type'] | undefined;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  encodeEvent(event: ReplyEvent): string {
    switch (event.type) {
      case 'start': {
        // Anthropic reports one output token until it has counted.
        const usage = writeMessageUsage({ output: 1, ...withoutUndefined(event.usage) }, event.tier);
        return writeEvent('message_start', { message: { ...this.#writeMessage([], noEnding), usage } });
      }
      case 'block_start':
        this.#isHeldBack = event.block.type === 'reasoning';
        this.#inputStart = undefined;
        this.#separator = selectSeparator(this.#lastType, event.block);
        this.#lastType = event.block.type;
        return this.#isHeldBack ? '' : writeBlockStart(event.index, writeOpenBlock(event.block));
      case 'block_delta':
        return this.#writeBlockDelta(event.index, event.block, event.text);
      case 'citation':
        return writeDelta(event.index, { type: 'citations_delta', citation: writeCitation(event.citation) });
      case 'block_stop':
        return this.#writeBlockEnd(event.index, event.block) + writeEvent('content_block_stop', { index: event.index });
      case 'finish':
        return writeFinish(event.reply);
    }
  }

  encodeWhole(reply: CompleteReply): MessagesReply {
    const usage = writeMessageUsage(reply.usage, reply.tier);
    const content = reply.blocks.map((block, index, blocks) => {
      const separator = selectSeparator(blocks[index - 1]?.type, block);
      return writeBlock(block.type === 'text' ? { ...block, text: separator + block.text } : block);
    });
    return { ...this.#writeMessage(content, writeEnding(reply)), usage };
  }

  encodeFailure(error: GatewayError): string {
    return renderStreamError(error, { id: `req_${this.#context.id}`, format: undefined, dialect: 'anthropic' });
  }

  /** Strict decoders require every member of the SDK's type, so those that do not apply are null. */
  #writeMessage(content: MessagesBlock[], ending: Ending | typeof noEnding): MessagesReply {
    const { id, model } = this.#context;
    return { id: `msg_${id}`, type: 'message', role: 'assistant', model, content, ...ending, diagnostics: null };
  }

  #writeBlockDelta(index: number, head: BlockHead, text: string): string {
    switch (head.type) {
      case 'text':
      case 'refusal': {
        const separator = this.#separator;
        this.#separator = '';
        return writeTextDelta(index, 'text_delta', 'text', separator + text);
      }
      case 'reasoning':
        return this.#openReasoning(index) + writeTextDelta(index, 'thinking_delta', 'thinking', text);
      case 'tool_call':
        // An input that is not an object is wrapped in one once it is complete.
        this.#inputStart ??= head.form === 'freeform' ? 'other' : classifyInput(text);
        return this.#inputStart === 'object' ? writeTextDelta(index, 'input_json_delta', 'partial_json', text) : '';
      case 'image':
        return '';
    }
  }

  #openReasoning(index: number): string {
    if (!this.#isHeldBack) return '';
    this.#isHeldBack = false;
    return writeBlockStart(index, { type: 'thinking', thinking: '', signature: '' });
  }

  #writeBlockEnd(index: number, block: Block): string {
    if (block.type === 'tool_call' && this.#inputStart !== 'object') {
      return writeDelta(index, { type: 'input_json_delta', partial_json: JSON.stringify(toArgumentsObject(block)) });
    }
    if (block.type !== 'reasoning') return '';
    if (block.isRedacted) return writeBlockStart(index, writeBlock(block));
    return this.#openReasoning(index) + writeDelta(index, { type: 'signature_delta', signature: block.state });
  }
}

/** Returns the separator between a new paragraph and the text before it, because clients concatenate adjacent text blocks. */
export function selectSeparator(previousType: BlockHead['type'] | undefined, head: BlockHead): string {
  return previousType === 'text' && head.type === 'text' && head.isParagraph === true ? paragraphBreak : '';
}

function classifyInput(input: string): 'object' | 'other' | undefined {
  const start = input.trimStart();
  if (start === '') return undefined;
  return start.startsWith('{') ? 'object' : 'other';
}

function writeBlockStart(index: number, content_block: MessagesBlock): string {
  return writeEvent('content_block_start', { index, content_block });
}

function writeDelta(index: number, delta: MessagesDelta): string {
  return writeEvent('content_block_delta', { index, delta });
}

/** Writes the same bytes as `writeDelta`, but only the text is serialized, because this runs for every token. */
function writeTextDelta(index: number, type: `${string}_delta`, member: keyof MessagesDelta, text: string): string {
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${member}":${JSON.stringify(text)}}}\n\n`;
}

function writeFinish(reply: CompleteReply): string {
  return (
    writeEvent('message_delta', { delta: writeEnding(reply), usage: writeUsage(reply.usage) }) +
    writeEvent('message_stop', {})
  );
}

/** `event:` repeats the type, because clients ignore events without it. */
export function writeEvent(type: string, members: MessagesEvent): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}
