import { renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { ReplyContext, ReplyEncoder } from '../../../canonical/codec.ts';
import type { CompleteReply, Logprob, ReplyEvent } from '../../../canonical/reply.ts';
import type { ChatMessage, ChatReply, ChatRequest, ChatStreamOptions } from '../../../wire/chat.ts';
import { readMember } from '../../../wire/members.ts';
import { type BlockEvent, MessageDeltas, writeMessage } from './message-deltas.ts';
import { type CallForm, createReplyId, readCallForm, writeFinish, writeUsage } from './reply-object.ts';

/**
 * Encodes a Chat Completions reply. Source: OpenAI API reference, "The chat completion chunk object"; client
 * requirements: the stream helper of the openai SDK, Vercel's AI SDK.
 */
export class ChatEncoder implements ReplyEncoder {
  readonly #context: ReplyContext;
  readonly #callForm: CallForm;
  readonly #wantsUsage: boolean;
  readonly #deltas: MessageDeltas;
  #hasStarted = false;
  /** A chunk without its delta. */
  readonly #plainFrame: readonly [before: string, after: string];

  constructor(context: ReplyContext) {
    const { request } = context;
    const { stream_options }: ChatRequest = request;
    this.#context = context;
    this.#callForm = readCallForm(request);
    this.#wantsUsage = readMember<ChatStreamOptions>(stream_options, 'include_usage') === true;
    this.#deltas = new MessageDeltas(this.#callForm);
    const [before = '', after = ''] = this.#writeChunk({}, null).split('"delta":{}');
    this.#plainFrame = [`${before}"delta":`, after];
  }

  encodeEvent(event: ReplyEvent): string {
    // The first chunk shows whether the reply has text, so it is not sent before the first block.
    if (event.type === 'start') return '';
    if (event.type === 'finish') return this.#writeEnd(event.reply);
    const logprobs = event.type === 'block_delta' ? event.logprobs : undefined;
    let text = '';
    for (const delta of this.#writeDeltas(event))
      text += logprobs === undefined ? this.#writePlainChunk(delta) : this.#writeChunk(delta, null, {}, logprobs);
    return text;
  }

  #writeDeltas(event: BlockEvent): ChatMessage[] {
    const deltas = this.#deltas.writeEvent(event);
    if (this.#hasStarted) return deltas;
    this.#hasStarted = true;
    // If the reply starts with a call, a refusal or reasoning, its first `content` is null, as OpenAI and DeepSeek send it: the SDK's
    // helper would turn an empty string into an empty text.
    return [writeFirstDelta(event.type === 'block_start' && event.block.type === 'text' ? '' : null), ...deltas];
  }

  encodeWhole(reply: CompleteReply): ChatReply {
    const message = writeMessage(reply, this.#callForm);
    const finish_reason = writeFinish(reply.finish, this.#callForm);
    const tokens = reply.blocks.flatMap((block) => (block.type === 'text' ? (block.logprobs ?? []) : []));
    return {
      ...this.#writeHead('chat.completion'),
      choices: [{ index: 0, message, logprobs: writeLogprobs(tokens), finish_reason }],
      usage: writeUsage(reply.usage),
      ...writeTier(reply),
    };
  }

  encodeFailure(error: GatewayError): string {
    return renderStreamError(error, { id: this.#context.id, format: undefined, dialect: 'openai' });
  }

  #writeEnd(reply: CompleteReply): string {
    const firstChunk = this.#hasStarted ? '' : this.#writeChunk(writeFirstDelta(''), null);
    // A reply that has only reasoning gets an empty text.
    const delta = this.#hasStarted && this.#deltas.isEmpty ? { content: '' } : {};
    const states = this.#deltas.writeStates().map((state) => this.#writeChunk(state, null));
    const lastChunk = this.#writeChunk(delta, writeFinish(reply.finish, this.#callForm), writeTier(reply));
    const usage = {
      ...this.#writeHead('chat.completion.chunk'),
      choices: [],
      usage: writeUsage(reply.usage),
      ...writeTier(reply),
    };
    return `${firstChunk}${states.join('')}${lastChunk}${this.#wantsUsage ? writeEvent(usage) : ''}data: [DONE]\n\n`;
  }

  /** Produces the same bytes as `#writeChunk`, but from a prepared frame. */
  #writePlainChunk(delta: ChatMessage): string {
    const [before, after] = this.#plainFrame;
    return before + JSON.stringify(delta) + after;
  }

  #writeChunk(
    delta: ChatMessage,
    finish_reason: string | null,
    members: ChatReply = {},
    logprobs: readonly Logprob[] = [],
  ): string {
    return writeEvent({
      ...this.#writeHead('chat.completion.chunk'),
      ...members,
      choices: [{ index: 0, delta, logprobs: writeLogprobs(logprobs), finish_reason }],
      ...(this.#wantsUsage && { usage: null }),
    });
  }

  #writeHead(object: string): ChatReply {
    const { id, created, model } = this.#context;
    return { id: createReplyId(id), object, created, model };
  }
}

function writeLogprobs(tokens: readonly Logprob[]): JsonObject | null {
  return tokens.length === 0 ? null : { content: [...tokens], refusal: null };
}

function writeFirstDelta(content: '' | null): ChatMessage {
  return { role: 'assistant', content, refusal: null };
}

function writeTier({ tier }: CompleteReply): ChatReply {
  return tier === undefined ? {} : { service_tier: tier };
}

function writeEvent(chunk: ChatReply): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
