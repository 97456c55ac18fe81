import { CollectedText } from '#core/platform/memory/collected-text.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { ReplyContext, ReplyEncoder } from '../../../canonical/codec.ts';
import type { Block, BlockHead, Citation, CompleteReply, Logprob, ReplyEvent } from '../../../canonical/reply.ts';
import {
  isTruncated,
  responseId,
  responseObject,
  type ResponseState,
  statusOf,
  renderResponseFailed,
} from './reply-object.ts';
import { writeTextPart, writtenParts } from './text-parts.ts';
import {
  itemId,
  type TextualBlock,
  writeCitation,
  writeItem,
  writeLogprobs,
  writeOpenItem,
  writePart,
} from './write-output.ts';
import type { ResponsesEvent, ResponsesItem, ResponsesReply } from '../../../wire/responses.ts';

type BlockOf<Type extends Block['type']> = Extract<Block, { type: Type }>;

/**
 * Writes a Responses reply; every block is a separate item. Source: OpenAI API reference, "Responses streaming
 * events"; requirements of the openai SDK's accumulator and of Codex.
 */
export class ResponsesEncoder implements ReplyEncoder {
  readonly #context: ReplyContext;
  readonly #output: ResponsesItem[] = [];
  /** The last item. Its `done` event waits for the next event, which shows whether a limit truncated the item. */
  #ending: ResponsesItem | undefined;
  /** The emitted part of the open item. */
  #begun: BegunItem | undefined;
  finished: ResponsesReply | undefined;
  #sequence = 0;
  /** The members that identify the item, and the part of a text, in events. */
  #place: ResponsesEvent = {};
  /** True once the part for the item's text is open. */
  #hasPart = false;
  #citations = 0;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  event(event: ReplyEvent): string {
    switch (event.type) {
      case 'start':
        return this.#announce('response.created') + this.#announce('response.in_progress');
      case 'block_start':
        return this.#open(event.index, event.block);
      case 'block_delta':
        return this.#delta(event.block, event.text, event.logprobs);
      case 'citation':
        return this.#cite(event.citation);
      case 'block_stop':
        return this.#close(event.index, event.block);
      case 'finish':
        return this.#finish(event.reply);
    }
  }

  whole(reply: CompleteReply): ResponsesReply {
    const output = reply.blocks.map((block, index) => writeItem(this.#itemId(index, block), block));
    return this.#finished({ status: statusOf(reply), output: endOutput(output, reply), reply });
  }

  failure(error: GatewayError, usage?: Usage): string {
    const ended = this.#end();
    const output = [...this.#output, ...(this.#begun === undefined ? [] : [this.#broken(this.#begun)])];
    const response = responseObject(this.#context, { status: 'failed', output, usage });
    return ended + renderResponseFailed(error, responseId(this.#context), this.#sequence++, response);
  }

  #announce(type: string): string {
    return this.#write(type, { response: responseObject(this.#context, { status: 'in_progress', output: [] }) });
  }

  #finished(state: ResponseState): ResponsesReply {
    return (this.finished = responseObject(this.#context, state));
  }

  #finish(reply: CompleteReply): string {
    const status = statusOf(reply);
    const output = endOutput(this.#output, reply);
    const response = this.#finished({ status, output, reply });
    return this.#end(output.at(-1)) + this.#write(`response.${status}`, { response });
  }

  /**
   * Writes the end of the last item.
   *
   * @param item final form of the item
   */
  #end(item = this.#ending): string {
    if (this.#ending === undefined || item === undefined) return '';
    this.#ending = undefined;
    return this.#write('response.output_item.done', { output_index: this.#output.length - 1, item });
  }

  #open(index: number, head: BlockHead): string {
    this.#hasPart = false;
    this.#citations = 0;
    this.#begun = { index, head, collected: new CollectedText(), citations: [] };
    const id = this.#itemId(index, head);
    const part = head.type === 'tool_call' || head.type === 'image' ? {} : { [writtenParts[head.type].index]: 0 };
    this.#place = { item_id: id, output_index: index, ...part };
    const item = writeOpenItem(id, head);
    const added = this.#end() + this.#write('response.output_item.added', { output_index: index, item });
    if (head.type === 'text' || head.type === 'refusal') return added + this.#openPart(head.type);
    return head.type === 'image' ? added + this.#makeImage('in_progress') + this.#makeImage('generating') : added;
  }

  #delta(head: BlockHead, delta: string, tokens?: readonly Logprob[]): string {
    this.#begun?.collected.add(delta);
    if (head.type === 'image') return '';
    if (head.type === 'tool_call')
      // Searches have an object as input, without deltas.
      return head.form === 'tool_search'
        ? ''
        : this.#write(`${inputEvents[head.form]}.delta`, { ...this.#place, delta });
    const logprobs = head.type === 'text' ? writeLogprobs(tokens) : undefined;
    const { events } = writtenParts[head.type];
    return this.#openPart(head.type) + this.#write(`${events}.delta`, { ...this.#place, delta, logprobs });
  }

  /** Opens the part of a text once. Encrypted reasoning has no text and therefore no part. */
  #openPart(type: TextualBlock['type']): string {
    if (this.#hasPart) return '';
    this.#hasPart = true;
    const kind = writtenParts[type];
    return this.#write(`${kind.partEvents}.added`, { ...this.#place, part: writeTextPart(kind, '') });
  }

  #cite(citation: Citation): string {
    this.#begun?.citations.push(citation);
    return this.#write('response.output_text.annotation.added', {
      ...this.#place,
      annotation_index: this.#citations++,
      annotation: writeCitation(citation),
    });
  }

  #close(index: number, block: Block): string {
    const item = writeItem(this.#itemId(index, block), block);
    this.#output.push(item);
    this.#ending = item;
    this.#begun = undefined;
    return this.#endContent(block);
  }

  /** The `done` events of a block, which precede the `done` event of its item. */
  #endContent(block: Block): string {
    if (block.type === 'image') return this.#makeImage('completed');
    if (block.type === 'tool_call') return this.#endInput(block);
    if (!this.#hasPart) return '';
    const { events, partEvents, member } = writtenParts[block.type];
    const logprobs = block.type === 'text' ? { logprobs: writeLogprobs(block.logprobs) } : {};
    return (
      this.#write(`${events}.done`, { ...this.#place, [member]: block.text, ...logprobs }) +
      this.#write(`${partEvents}.done`, { ...this.#place, part: writePart(block) })
    );
  }

  #makeImage(state: 'in_progress' | 'generating' | 'completed'): string {
    return this.#write(`response.image_generation_call.${state}`, this.#place);
  }

  #endInput({ form, name, input }: BlockOf<'tool_call'>): string {
    if (form === 'tool_search') return '';
    const whole = form === 'function' ? { name, arguments: input } : { input };
    return this.#write(`${inputEvents[form]}.done`, { ...this.#place, ...whole });
  }

  #broken({ index, head, collected, citations }: BegunItem): ResponsesItem {
    const { text } = collected;
    const id = this.#itemId(index, head);
    switch (head.type) {
      case 'text':
        return writeItem(id, { type: 'text', text, citations }, 'incomplete');
      case 'refusal':
        return writeItem(id, { type: 'refusal', text }, 'incomplete');
      case 'reasoning': {
        // The state is sent when the item ends.
        const { encrypted_content: _, ...item } = writeItem(id, { ...head, text, state: '', isRedacted: false });
        return { ...item, status: 'incomplete' };
      }
      case 'tool_call':
        return writeItem(id, { ...head, input: text }, 'incomplete');
      case 'image':
        // An image is never open: it is complete when it begins.
        return writeOpenItem(id, head);
    }
  }

  #itemId(index: number, head: BlockHead): string {
    return itemId(this.#context.id, index, head);
  }

  /** One event. `event:` repeats the type, which some clients require. */
  #write(type: string, members: ResponsesEvent): string {
    // Copying the members would cost more than the rest of a delta.
    const json = JSON.stringify(members).slice(1);
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequence++},${json}\n\n`;
  }
}

interface BegunItem {
  readonly index: number;
  readonly head: BlockHead;
  readonly collected: CollectedText;
  readonly citations: Citation[];
}

/** The last item of a truncated answer is incomplete. */
function endOutput(output: readonly ResponsesItem[], reply: CompleteReply): readonly ResponsesItem[] {
  const last = output.at(-1);
  if (last === undefined || !isTruncated(reply)) return output;
  return [...output.slice(0, -1), { ...last, status: 'incomplete' }];
}

const inputEvents = {
  function: 'response.function_call_arguments',
  freeform: 'response.custom_tool_call_input',
} as const;
