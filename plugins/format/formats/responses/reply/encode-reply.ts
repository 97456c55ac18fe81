import type { Usage } from '#core/gateway/facts.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import { CollectedText } from '#core/platform/memory/collected-text.ts';
import type { ReplyContext, ReplyEncoder } from '../../../canonical/codec.ts';
import type { Block, BlockHead, Citation, CompleteReply, Logprob, ReplyEvent } from '../../../canonical/reply.ts';
import type { ResponsesEvent, ResponsesItem, ResponsesReply } from '../../../wire/responses.ts';
import {
  isTruncated,
  createResponseId,
  writeResponse,
  type ResponseState,
  resolveStatus,
  renderResponseFailed,
} from './reply-object.ts';
import { writeTextPart, blockPartKinds } from './text-parts.ts';
import {
  createBlockItemId,
  type TextualBlock,
  writeCitation,
  writeItem,
  writeLogprobs,
  writeOpenItem,
  writePart,
} from './write-output.ts';

type BlockOf<Type extends Block['type']> = Extract<Block, { type: Type }>;

const inputEvents = {
  function: 'response.function_call_arguments',
  freeform: 'response.custom_tool_call_input',
} as const;

interface OpenItem {
  readonly index: number;
  readonly head: BlockHead;
  readonly collectedText: CollectedText;
  readonly citations: Citation[];
}

/**
 * Writes a Responses reply, in which every block is a separate item. Source: OpenAI API reference, "Responses streaming
 * events"; requirements of the openai SDK's accumulator and of Codex.
 */
export class ResponsesEncoder implements ReplyEncoder {
  readonly #context: ReplyContext;
  readonly #output: ResponsesItem[] = [];
  /** The last item. Its `done` event waits for the next event, which shows whether a limit truncated the item. */
  #lastItem: ResponsesItem | undefined;
  /** The open item with its content so far. */
  #openItem: OpenItem | undefined;
  finished: ResponsesReply | undefined;
  #sequenceNumber = 0;
  /** Members that identify the open item, and the part of its text, in events. */
  #location: ResponsesEvent = {};
  /** True once the part with the item's text is open. */
  #isPartOpen = false;
  #citationCount = 0;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  encodeEvent(event: ReplyEvent): string {
    switch (event.type) {
      case 'start':
        return this.#writeResponseState('response.created') + this.#writeResponseState('response.in_progress');
      case 'block_start':
        return this.#writeItemStart(event.index, event.block);
      case 'block_delta':
        return this.#writeDelta(event.block, event.text, event.logprobs);
      case 'citation':
        return this.#writeCitation(event.citation);
      case 'block_stop':
        return this.#writeBlockEnd(event.index, event.block);
      case 'finish':
        return this.#writeFinish(event.reply);
    }
  }

  encodeWhole(reply: CompleteReply): ResponsesReply {
    const output = reply.blocks.map((block, index) => writeItem(this.#createItemId(index, block), block));
    return this.#finishResponse({ status: resolveStatus(reply), output: markTruncated(output, reply), reply });
  }

  encodeFailure(error: GatewayError, usage?: Usage): string {
    const itemEnd = this.#writeItemEnd();
    const output = [
      ...this.#output,
      ...(this.#openItem === undefined ? [] : [this.#writeTruncatedItem(this.#openItem)]),
    ];
    const response = writeResponse(this.#context, { status: 'failed', output, usage });
    return itemEnd + renderResponseFailed(error, createResponseId(this.#context), this.#sequenceNumber++, response);
  }

  #writeResponseState(type: string): string {
    return this.#writeEvent(type, { response: writeResponse(this.#context, { status: 'in_progress', output: [] }) });
  }

  #finishResponse(state: ResponseState): ResponsesReply {
    return (this.finished = writeResponse(this.#context, state));
  }

  #writeFinish(reply: CompleteReply): string {
    const status = resolveStatus(reply);
    const output = markTruncated(this.#output, reply);
    const response = this.#finishResponse({ status, output, reply });
    return this.#writeItemEnd(output.at(-1)) + this.#writeEvent(`response.${status}`, { response });
  }

  /**
   * Writes the end of the last item.
   *
   * @param item final form of the item
   */
  #writeItemEnd(item = this.#lastItem): string {
    if (this.#lastItem === undefined || item === undefined) return '';
    this.#lastItem = undefined;
    return this.#writeEvent('response.output_item.done', { output_index: this.#output.length - 1, item });
  }

  #writeItemStart(index: number, head: BlockHead): string {
    this.#isPartOpen = false;
    this.#citationCount = 0;
    this.#openItem = { index, head, collectedText: new CollectedText(), citations: [] };
    const id = this.#createItemId(index, head);
    const part = head.type === 'tool_call' || head.type === 'image' ? {} : { [blockPartKinds[head.type].index]: 0 };
    this.#location = { item_id: id, output_index: index, ...part };
    const item = writeOpenItem(id, head);
    const start = this.#writeItemEnd() + this.#writeEvent('response.output_item.added', { output_index: index, item });
    if (head.type === 'text' || head.type === 'refusal') return start + this.#writePartStart(head.type);
    return head.type === 'image'
      ? start + this.#writeImageState('in_progress') + this.#writeImageState('generating')
      : start;
  }

  #writeDelta(head: BlockHead, delta: string, tokens?: readonly Logprob[]): string {
    this.#openItem?.collectedText.add(delta);
    if (head.type === 'image') return '';
    if (head.type === 'tool_call')
      // Searches have an object as input, without deltas.
      return head.form === 'tool_search'
        ? ''
        : this.#writeEvent(`${inputEvents[head.form]}.delta`, { ...this.#location, delta });
    const logprobs = head.type === 'text' ? writeLogprobs(tokens) : undefined;
    const { events } = blockPartKinds[head.type];
    return (
      this.#writePartStart(head.type) + this.#writeEvent(`${events}.delta`, { ...this.#location, delta, logprobs })
    );
  }

  /** Opens the part of a text once. Encrypted reasoning has no text and therefore no part. */
  #writePartStart(type: TextualBlock['type']): string {
    if (this.#isPartOpen) return '';
    this.#isPartOpen = true;
    const kind = blockPartKinds[type];
    return this.#writeEvent(`${kind.partEvents}.added`, { ...this.#location, part: writeTextPart(kind, '') });
  }

  #writeCitation(citation: Citation): string {
    this.#openItem?.citations.push(citation);
    return this.#writeEvent('response.output_text.annotation.added', {
      ...this.#location,
      annotation_index: this.#citationCount++,
      annotation: writeCitation(citation),
    });
  }

  #writeBlockEnd(index: number, block: Block): string {
    const item = writeItem(this.#createItemId(index, block), block);
    this.#output.push(item);
    this.#lastItem = item;
    this.#openItem = undefined;
    return this.#writeContentEnd(block);
  }

  /** Writes the `done` events of a block, which precede the `done` event of its item. */
  #writeContentEnd(block: Block): string {
    if (block.type === 'image') return this.#writeImageState('completed');
    if (block.type === 'tool_call') return this.#writeInputEnd(block);
    if (!this.#isPartOpen) return '';
    const { events, partEvents, member } = blockPartKinds[block.type];
    const logprobs = block.type === 'text' ? { logprobs: writeLogprobs(block.logprobs) } : {};
    return (
      this.#writeEvent(`${events}.done`, { ...this.#location, [member]: block.text, ...logprobs }) +
      this.#writeEvent(`${partEvents}.done`, { ...this.#location, part: writePart(block) })
    );
  }

  #writeImageState(state: 'in_progress' | 'generating' | 'completed'): string {
    return this.#writeEvent(`response.image_generation_call.${state}`, this.#location);
  }

  #writeInputEnd({ form, name, input }: BlockOf<'tool_call'>): string {
    if (form === 'tool_search') return '';
    const inputMembers = form === 'function' ? { name, arguments: input } : { input };
    return this.#writeEvent(`${inputEvents[form]}.done`, { ...this.#location, ...inputMembers });
  }

  #writeTruncatedItem({ index, head, collectedText, citations }: OpenItem): ResponsesItem {
    const { text } = collectedText;
    const id = this.#createItemId(index, head);
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
        // Not reached: an image is complete when its block starts.
        return writeOpenItem(id, head);
    }
  }

  #createItemId(index: number, head: BlockHead): string {
    return createBlockItemId(this.#context.id, index, head);
  }

  /** Writes an event. `event:` repeats the type, which some clients require. */
  #writeEvent(type: string, members: ResponsesEvent): string {
    // Copying the members would cost more than the rest of a delta.
    const json = JSON.stringify(members).slice(1);
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequenceNumber++},${json}\n\n`;
  }
}

/** Marks the last item of a truncated answer as incomplete. */
function markTruncated(output: readonly ResponsesItem[], reply: CompleteReply): readonly ResponsesItem[] {
  const lastItem = output.at(-1);
  if (lastItem === undefined || !isTruncated(reply)) return output;
  return [...output.slice(0, -1), { ...lastItem, status: 'incomplete' }];
}
