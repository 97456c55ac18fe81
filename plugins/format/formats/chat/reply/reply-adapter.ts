import type { Usage } from '#core/gateway/facts.ts';
import { isJsonObject } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import {
  type AnsweredRequest,
  filledUsage,
  isCounted,
  objectOr,
  type ReplyAdapter,
  rewriteData,
} from '../../contract/pass-through.ts';
import { member } from '../../../wire/members.ts';
import { UsageMeter } from '../../../canonical/usage-meter.ts';
import { writeUsage } from './reply-object.ts';
import type { ChatReply, ChatRequest, ChatStreamOptions, ChatUsage, ChatUsageDetails } from '../../../wire/chat.ts';

/** Adds usage that the client expects, and hides usage that only the gateway requested. */
export class ChatReplyAdapter implements ReplyAdapter {
  readonly meter: UsageMeter;
  readonly #wantsUsage: boolean;
  /** True while the client waits for a chunk with the usage. */
  #owesUsage: boolean;
  #lastChunk: StreamEvent | undefined;

  constructor(request: AnsweredRequest) {
    const { stream_options: options }: ChatRequest = request.outline;
    this.meter = new UsageMeter(request);
    this.#wantsUsage = member<ChatStreamOptions>(options, 'include_usage') === true;
    this.#owesUsage = this.#wantsUsage;
  }

  event(event: StreamEvent, counted?: Usage): string {
    const { text, data } = event;
    if (!event.isPlain && isUsageChunk(event)) {
      if (isCounted(counted)) this.#owesUsage = false;
      // The gateway requested this chunk, not the client.
      if (!this.#wantsUsage && /"choices"\s*:\s*\[\s*\]/.test(text)) return '';
      const chunk: ChatReply = event.parse() ?? {};
      const placed = withCachedTokens(chunk, counted);
      return placed === chunk ? text : rewriteData(text, placed);
    }
    if (data?.startsWith('[DONE]') === true) return this.end(counted) + text;
    if (data !== undefined) {
      this.meter.delta(event);
      this.#lastChunk = event;
    }
    return text;
  }

  whole(text: string, body: ChatReply, counted?: Usage): string {
    if (isCounted(counted)) {
      const placed = withCachedTokens(body, counted);
      return placed === body ? text : JSON.stringify(placed);
    }
    this.meter.whole(body);
    return JSON.stringify({ ...body, usage: filledUsage(body.usage, this.#completeUsage(counted)) });
  }

  /** Returns the usage chunk that the client requested, if the upstream did not send it. */
  end(counted?: Usage): string {
    if (!this.#owesUsage) return '';
    this.#owesUsage = false;
    const usage = this.#completeUsage(counted);
    return rewriteData(this.#lastChunk?.text ?? '', { ...this.#lastChunk?.parse(), choices: [], usage });
  }

  failure(text: string, counted?: Usage): string {
    return this.end(counted) + text;
  }

  #completeUsage(counted: Usage | undefined): ChatUsage {
    return writeUsage(this.meter.complete(counted, true));
  }
}

/**
 * Adds the cached-token count where clients read it, because DeepSeek, Moonshot and Mistral use other names. Returns the same object
 * if the count is already there.
 */
function withCachedTokens(reply: ChatReply, counted: Usage | undefined): ChatReply {
  const { usage } = reply;
  if (!isJsonObject(usage) || counted?.cacheRead === undefined) return reply;
  const { prompt_tokens_details: details }: ChatUsage = usage;
  if (typeof member<ChatUsageDetails>(details, 'cached_tokens') === 'number') return reply;
  const placed = { ...objectOr(details), cached_tokens: counted.cacheRead };
  return { ...reply, usage: { ...usage, prompt_tokens_details: placed } };
}

/** Returns true for a chunk with usage at the top level, where clients read it. Some vendors nest usage in another member. */
function isUsageChunk(event: StreamEvent): boolean {
  return (
    (event.isLong || /"usage"\s*:\s*\{/.test(event.text)) && isJsonObject(member<ChatReply>(event.parse(), 'usage'))
  );
}
