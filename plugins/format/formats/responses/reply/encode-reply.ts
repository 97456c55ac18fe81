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
import {
  itemId,
  writeCitation,
  writeItem,
  writeLogprobs,
  writeOpenItem,
  writePart,
  writeSummary,
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
  /** The last of them, whose `done` event waits for the next event, which shows whether a limit has truncated it. */
  #ending: ResponsesItem | undefined;
  /** The open item, as far as it is emitted. */
  #begun: BegunItem | undefined;
  finished: ResponsesReply | undefined;
  #sequence = 0;
  #hasSummary = false;
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
        return this.#delta(event.index, event.block, event.text, event.logprobs);
      case 'citation':
        return this.#cite(event.index, event.citation);
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

  /** Writes the end of the last item. @param item in its final form */
  #end(item = this.#ending): string {
    if (this.#ending === undefined || item === undefined) return '';
    this.#ending = undefined;
    return this.#write('response.output_item.done', { output_index: this.#output.length - 1, item });
  }

  #open(index: number, head: BlockHead): string {
    this.#hasSummary = false;
    this.#citations = 0;
    this.#begun = { index, head, collected: new CollectedText(), citations: [] };
    const item = writeOpenItem(this.#itemId(index, head), head);
    const added = this.#end() + this.#write('response.output_item.added', { output_index: index, item });
    if (head.type === 'text') return added + this.#part('added', index, { ...head, text: '', citations: [] });
    if (head.type === 'image')
      return added + this.#makeImage('in_progress', index) + this.#makeImage('generating', index);
    return head.type === 'refusal' ? added + this.#part('added', index, { ...head, text: '' }) : added;
  }

  #delta(index: number, head: BlockHead, delta: string, tokens?: readonly Logprob[]): string {
    this.#begun?.collected.add(delta);
    const place = this.#place(index, head);
    switch (head.type) {
      case 'text':
        return this.#write('response.output_text.delta', {
          ...place,
          content_index: 0,
          delta,
          logprobs: writeLogprobs(tokens),
        });
      case 'refusal':
        return this.#write('response.refusal.delta', { ...place, content_index: 0, delta });
      case 'reasoning':
        return (
          this.#beginSummary(index, head) +
          this.#write('response.reasoning_summary_text.delta', { ...place, summary_index: 0, delta })
        );
      case 'tool_call':
        // Searches have an object as input, without deltas.
        return head.form === 'tool_search' ? '' : this.#write(`${inputEvents[head.form]}.delta`, { ...place, delta });
      case 'image':
        return '';
    }
  }

  /** A summary has a part once there is text; encrypted reasoning has none. */
  #beginSummary(index: number, head: BlockHead): string {
    if (this.#hasSummary) return '';
    this.#hasSummary = true;
    const place = { ...this.#place(index, head), summary_index: 0 };
    return this.#write('response.reasoning_summary_part.added', { ...place, part: writeSummary('') });
  }

  #cite(index: number, citation: Citation): string {
    this.#begun?.citations.push(citation);
    return this.#write('response.output_text.annotation.added', {
      ...this.#place(index, { type: 'text' }),
      content_index: 0,
      annotation_index: this.#citations++,
      annotation: writeCitation(citation),
    });
  }

  #close(index: number, block: Block): string {
    const item = writeItem(this.#itemId(index, block), block);
    this.#output.push(item);
    this.#ending = item;
    this.#begun = undefined;
    return this.#whole(index, block);
  }

  /** The `done` events of a block, before that of its item. */
  #whole(index: number, block: Block): string {
    const place = this.#place(index, block);
    switch (block.type) {
      case 'text': {
        const done = { ...place, content_index: 0, text: block.text, logprobs: writeLogprobs(block.logprobs) };
        return this.#write('response.output_text.done', done) + this.#part('done', index, block);
      }
      case 'refusal': {
        const done = { ...place, content_index: 0, refusal: block.text };
        return this.#write('response.refusal.done', done) + this.#part('done', index, block);
      }
      case 'reasoning':
        return this.#hasSummary ? this.#endSummary(index, block) : '';
      case 'tool_call':
        return this.#endInput(index, block);
      case 'image':
        return this.#makeImage('completed', index);
    }
  }

  #makeImage(state: 'in_progress' | 'generating' | 'completed', index: number): string {
    return this.#write(`response.image_generation_call.${state}`, this.#place(index, { type: 'image' }));
  }

  #endSummary(index: number, block: BlockOf<'reasoning'>): string {
    const place = { ...this.#place(index, block), summary_index: 0 };
    return (
      this.#write('response.reasoning_summary_text.done', { ...place, text: block.text }) +
      this.#write('response.reasoning_summary_part.done', { ...place, part: writeSummary(block.text) })
    );
  }

  #endInput(index: number, call: BlockOf<'tool_call'>): string {
    const { form, name, input } = call;
    if (form === 'tool_search') return '';
    const whole = form === 'function' ? { name, arguments: input } : { input };
    return this.#write(`${inputEvents[form]}.done`, { ...this.#place(index, call), ...whole });
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
        // Its state comes with its end.
        const { encrypted_content: _, ...item } = writeItem(id, { ...head, text, state: '', isRedacted: false });
        return { ...item, status: 'incomplete' };
      }
      case 'tool_call':
        return writeItem(id, { ...head, input: text }, 'incomplete');
      case 'image':
        // Never open: it ends as it begins.
        return writeOpenItem(id, head);
    }
  }

  #part(what: 'added' | 'done', index: number, block: BlockOf<'text'> | BlockOf<'refusal'>): string {
    const place = this.#place(index, block);
    return this.#write(`response.content_part.${what}`, { ...place, content_index: 0, part: writePart(block) });
  }

  #place(index: number, head: BlockHead): { item_id: string; output_index: number } {
    return { item_id: this.#itemId(index, head), output_index: index };
  }

  #itemId(index: number, head: BlockHead): string {
    return itemId(this.#context.id, index, head);
  }

  /** One event. `event:` repeats the type, which some clients require. */
  #write(type: string, members: ResponsesEvent): string {
    const data = { type, sequence_number: this.#sequence++, ...members };
    return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
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
