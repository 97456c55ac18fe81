import type { Usage } from '#core/gateway/facts.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { ReplyContext, ReplyEncoder } from '../../../canonical/codec.ts';
import type { Block, BlockHead, Citation, CompleteReply, Logprob, ReplyEvent } from '../../../canonical/reply.ts';
import { asText } from '../../../wire/members.ts';
import type { ResponsesEvent, ResponsesItem, ResponsesReply } from '../../../wire/responses.ts';
import {
  isTruncated,
  createResponseId,
  writeResponse,
  type ResponseState,
  resolveStatus,
  renderResponseFailed,
} from './reply-object.ts';
import { StreamedItem, type StreamedPart } from './streamed-item.ts';
import { blockPartKinds } from './text-parts.ts';
import {
  createBlockItemId,
  type TextualBlock,
  writeCitation,
  writeItem,
  writeLogprobs,
  writeOpenItem,
  writePart,
} from './write-output.ts';

const noNames = { id: '', callId: '' };

/**
 * Writes a Responses reply, in which every block is a separate item. Source: OpenAI API reference, "Responses streaming events"; what the
 * openai SDK's accumulator and Codex require.
 */
export class ResponsesEncoder implements ReplyEncoder {
  readonly #context: ReplyContext;
  readonly #output: ResponsesItem[] = [];
  /** Its `done` event waits for the next event, which shows whether a limit cut the item off. */
  #lastItem: ResponsesItem | undefined;
  #item = new StreamedItem('', noNames, () => 0);
  /** Undefined until the text begins; encrypted reasoning has no text and therefore no part. */
  #part: StreamedPart | undefined;
  /** The block's delta event without its number and text. Prepared once, because nearly every token is such an event. */
  #deltaFrame: readonly [before: string, middle: string, after: string] | undefined;
  finished: ResponsesReply | undefined;
  #sequenceNumber = 0;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  encodeEvent(event: ReplyEvent): string {
    switch (event.type) {
      case 'start':
        return this.#writeStart('response.created') + this.#writeStart('response.in_progress');
      case 'block_start':
        return this.#startBlock(event.index, event.block);
      case 'block_delta':
        return this.#writeDelta(event.block, event.text, event.logprobs);
      case 'citation':
        return this.#writeCitation(event.citation);
      case 'block_stop':
        return this.#endBlock(event.index, event.block);
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
    const isOpen = this.#item.isAnnounced && !this.#item.isDone;
    const output = isOpen ? [...this.#output, this.#item.writePartial()] : this.#output;
    const response = writeResponse(this.#context, { status: 'failed', output, usage });
    return itemEnd + renderResponseFailed(error, createResponseId(this.#context), this.#sequenceNumber++, response);
  }

  #writeStart(type: string): string {
    const response = writeResponse(this.#context, { status: 'in_progress', output: [] });
    return this.#writeEvent({ type, response });
  }

  #finishResponse(state: ResponseState): ResponsesReply {
    return (this.finished = writeResponse(this.#context, state));
  }

  #writeFinish(reply: CompleteReply): string {
    const status = resolveStatus(reply);
    const output = markTruncated(this.#output, reply);
    const response = this.#finishResponse({ status, output, reply });
    return this.#writeItemEnd(output.at(-1)) + this.#writeEvent({ type: `response.${status}`, response });
  }

  /** @param item the item in its final form */
  #writeItemEnd(item = this.#lastItem): string {
    if (this.#lastItem === undefined || item === undefined) return '';
    this.#lastItem = undefined;
    return this.#writeEvent({ type: 'response.output_item.done', output_index: this.#output.length - 1, item });
  }

  #startBlock(index: number, head: BlockHead): string {
    const id = this.#createItemId(index, head);
    const openItem = writeOpenItem(id, head);
    this.#item = new StreamedItem(asText(openItem.type), { ...noNames, id }, () => index);
    this.#part = undefined;
    this.#deltaFrame = undefined;
    const start = this.#writeItemEnd() + this.#writeEvent(this.#item.announce(openItem));
    if (head.type === 'text' || head.type === 'refusal') return start + this.#startPart(head.type);
    return head.type === 'image' ? start + this.#writeImageStates('in_progress', 'generating') : start;
  }

  #startPart(type: TextualBlock['type']): string {
    if (this.#part !== undefined) return '';
    this.#part = this.#item.openPart(blockPartKinds[type]);
    return this.#writeEvent(this.#part.open());
  }

  #writeDelta(head: BlockHead, delta: string, tokens?: readonly Logprob[]): string {
    if (head.type === 'image') return '';
    const start = head.type === 'tool_call' ? '' : this.#startPart(head.type);
    const part = this.#part;
    if (tokens !== undefined && part !== undefined)
      return start + this.#writeEvent(part.append(delta, writeLogprobs(tokens)));
    (part?.receivedText ?? this.#item.input).add(delta);
    // A search's input is an object, for which there are no deltas.
    if (head.type === 'tool_call' && head.form === 'tool_search') return '';
    const [before, middle, after] = (this.#deltaFrame ??= frameDelta(part?.append('') ?? this.#item.appendInput('')));
    return `${start}${before}${this.#sequenceNumber++}${middle}${JSON.stringify(delta)}${after}`;
  }

  #writeCitation(citation: Citation): string {
    const part = this.#part;
    return part === undefined ? '' : this.#writeEvent(this.#item.addCitation(part, writeCitation(citation)));
  }

  #endBlock(index: number, block: Block): string {
    const item = writeItem(this.#createItemId(index, block), block);
    this.#output.push(item);
    this.#lastItem = item;
    this.#item.isDone = true;
    if (block.type === 'image') return this.#writeImageStates('completed');
    if (block.type === 'tool_call')
      return block.form === 'tool_search' ? '' : this.#writeEvents(this.#item.endInput(block.input, block.name));
    const part = writePart(block);
    return this.#part === undefined ? '' : this.#writeEvents([...this.#part.endText(part), ...this.#part.close(part)]);
  }

  #writeImageStates(...states: readonly ('in_progress' | 'generating' | 'completed')[]): string {
    const { location } = this.#item;
    return this.#writeEvents(states.map((state) => ({ type: `response.image_generation_call.${state}`, ...location })));
  }

  #createItemId(index: number, head: BlockHead): string {
    return createBlockItemId(this.#context.id, index, head);
  }

  #writeEvents(events: readonly ResponsesEvent[]): string {
    return events.map((event) => this.#writeEvent(event)).join('');
  }

  #writeEvent(event: ResponsesEvent): string {
    const [before, members] = splitAtNumber(event);
    return before + this.#sequenceNumber++ + members;
  }
}

function splitAtNumber({ type, ...members }: ResponsesEvent): readonly [before: string, after: string] {
  const name = asText(type);
  // `event:` repeats the type, which some clients require.
  return [`event: ${name}\ndata: {"type":"${name}","sequence_number":`, `,${JSON.stringify(members).slice(1)}\n\n`];
}

function frameDelta(emptyDelta: ResponsesEvent): readonly [before: string, middle: string, after: string] {
  const [before, members] = splitAtNumber(emptyDelta);
  const [middle = '', after = ''] = members.split('"delta":""');
  return [before, `${middle}"delta":`, after];
}

function markTruncated(output: readonly ResponsesItem[], reply: CompleteReply): readonly ResponsesItem[] {
  const lastItem = output.at(-1);
  if (lastItem === undefined || !isTruncated(reply)) return output;
  return [...output.slice(0, -1), { ...lastItem, status: 'incomplete' }];
}
