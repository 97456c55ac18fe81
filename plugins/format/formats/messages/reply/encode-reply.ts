import type { GatewayError } from '#core/platform/errors/table.ts';
import { renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import type { ReplyContext, ReplyEncoder } from '../../../canonical/codec.ts';
import {
  type Block,
  type BlockHead,
  type CompleteReply,
  paragraph,
  type ReplyEvent,
} from '../../../canonical/reply.ts';
import { writeUsage, writeWholeUsage } from './finish.ts';
import {
  type Ending,
  inputObject,
  noEnding,
  writeBlock,
  writeCitation,
  writeEnding,
  writeOpenBlock,
} from './write-output.ts';
import type { MessagesBlock, MessagesDelta, MessagesEvent, MessagesReply } from '../../../wire/messages.ts';

/**
 * Writes a Messages reply. Source: Anthropic API reference, "Streaming Messages"; requirements of MessageStream in the
 * anthropic SDK and of Claude Code.
 */
export class MessagesEncoder implements ReplyEncoder {
  readonly #context: ReplyContext;
  /** True while the type of a reasoning block is undecided: it depends on whether the block has text. */
  #isHeldBack = false;
  /** How a call's input begins; undefined while it is only white space. */
  #begun: 'object' | 'other' | undefined;
  #separator = '';
  #last: BlockHead['type'] | undefined;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  event(event: ReplyEvent): string {
    switch (event.type) {
      case 'start': {
        // Anthropic reports one output token before it has counted.
        const usage = writeWholeUsage({ output: 1, ...known(event.usage) }, event.tier);
        return writeEvent('message_start', { message: { ...this.#message([], noEnding), usage } });
      }
      case 'block_start':
        this.#isHeldBack = event.block.type === 'reasoning';
        this.#begun = undefined;
        this.#separator = separatorBetween(this.#last, event.block);
        this.#last = event.block.type;
        return this.#isHeldBack ? '' : open(event.index, writeOpenBlock(event.block));
      case 'block_delta':
        return this.#delta(event.index, event.block, event.text);
      case 'citation':
        return delta(event.index, { type: 'citations_delta', citation: writeCitation(event.citation) });
      case 'block_stop':
        return this.#close(event.index, event.block) + writeEvent('content_block_stop', { index: event.index });
      case 'finish':
        return finish(event.reply);
    }
  }

  whole(reply: CompleteReply): MessagesReply {
    const usage = writeWholeUsage(reply.usage, reply.tier);
    const content = reply.blocks.map((block, index, blocks) => {
      const separator = separatorBetween(blocks[index - 1]?.type, block);
      return writeBlock(block.type === 'text' ? { ...block, text: separator + block.text } : block);
    });
    return { ...this.#message(content, writeEnding(reply)), usage };
  }

  failure(error: GatewayError): string {
    return renderStreamError(error, { id: `req_${this.#context.id}`, format: undefined, dialect: 'anthropic' });
  }

  /** Strict decoders require every member of the SDK's type; members that do not apply are null. */
  #message(content: MessagesBlock[], ending: Ending | typeof noEnding): MessagesReply {
    const { id, model } = this.#context;
    return { id: `msg_${id}`, type: 'message', role: 'assistant', model, content, ...ending, diagnostics: null };
  }

  #delta(index: number, head: BlockHead, text: string): string {
    switch (head.type) {
      case 'text':
      case 'refusal': {
        const separator = this.#separator;
        this.#separator = '';
        return delta(index, { type: 'text_delta', text: separator + text });
      }
      case 'reasoning':
        return this.#release(index) + delta(index, { type: 'thinking_delta', thinking: text });
      case 'tool_call':
        // Input that is not an object is wrapped in an object once it is complete.
        this.#begun ??= head.form === 'freeform' ? 'other' : beginningOf(text);
        return this.#begun === 'object' ? delta(index, { type: 'input_json_delta', partial_json: text }) : '';
      case 'image':
        return '';
    }
  }

  #release(index: number): string {
    if (!this.#isHeldBack) return '';
    this.#isHeldBack = false;
    return open(index, { type: 'thinking', thinking: '', signature: '' });
  }

  #close(index: number, block: Block): string {
    if (block.type === 'tool_call' && this.#begun !== 'object') {
      return delta(index, { type: 'input_json_delta', partial_json: JSON.stringify(inputObject(block)) });
    }
    if (block.type !== 'reasoning') return '';
    if (block.isRedacted) return open(index, writeBlock(block));
    return this.#release(index) + delta(index, { type: 'signature_delta', signature: block.state });
  }
}

/** Clients concatenate adjacent text blocks, so a new paragraph needs a separator. Other blocks already separate texts. */
export function separatorBetween(last: BlockHead['type'] | undefined, head: BlockHead): string {
  return last === 'text' && head.type === 'text' && head.isParagraph === true ? paragraph : '';
}

function beginningOf(input: string): 'object' | 'other' | undefined {
  const begun = input.trimStart();
  if (begun === '') return undefined;
  return begun.startsWith('{') ? 'object' : 'other';
}

function open(index: number, content_block: MessagesBlock): string {
  return writeEvent('content_block_start', { index, content_block });
}

function delta(index: number, content: MessagesDelta): string {
  // Same result as `writeEvent` without copying the members: this runs for every token.
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${JSON.stringify(content)}}\n\n`;
}

function finish(reply: CompleteReply): string {
  return (
    writeEvent('message_delta', { delta: writeEnding(reply), usage: writeUsage(reply.usage) }) +
    writeEvent('message_stop', {})
  );
}

/** Removes undefined members, which would overwrite earlier members. */
function known<T extends object>(members: T): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** One event. `event:` repeats the type: clients ignore an event without it. */
export function writeEvent(type: string, members: MessagesEvent): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}
