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

/** Adds the usage that the client expects, and hides usage that only the gateway requested. */
export class ChatReplyAdapter implements ReplyAdapter {
  readonly meter: UsageMeter;
  readonly #wantsUsage: boolean;
  /** True while the client waits for a chunk with the usage. */
  #owesUsage: boolean;
  #last: StreamEvent | undefined;

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
      // Requested by the gateway, not by the client.
      if (!this.#wantsUsage && /"choices"\s*:\s*\[\s*\]/.test(text)) return '';
      const chunk: ChatReply = event.parse() ?? {};
      const placed = withCachedTokens(chunk, counted);
      return placed === chunk ? text : rewriteData(text, placed);
    }
    if (data?.startsWith('[DONE]') === true) return this.end(counted) + text;
    if (data !== undefined) {
      this.meter.delta(event);
      this.#last = event;
    }
    return text;
  }

  whole(text: string, body: ChatReply, counted?: Usage): string {
    if (isCounted(counted)) {
      const placed = withCachedTokens(body, counted);
      return placed === body ? text : JSON.stringify(placed);
    }
    this.meter.whole(body);
    return JSON.stringify({ ...body, usage: filledUsage(body.usage, this.#usage(counted)) });
  }

  /** The chunk that the client requested and the upstream did not send. */
  end(counted?: Usage): string {
    if (!this.#owesUsage) return '';
    this.#owesUsage = false;
    const usage = this.#usage(counted);
    return rewriteData(this.#last?.text ?? '', { ...this.#last?.parse(), choices: [], usage });
  }

  failure(text: string, counted?: Usage): string {
    return this.end(counted) + text;
  }

  #usage(counted: Usage | undefined): ChatUsage {
    return writeUsage(this.meter.complete(counted, true));
  }
}

/**
 * The reply with the cached-token count where clients read it; the same object if the count is there. DeepSeek, Moonshot and
 * Mistral use other names for this count.
 */
function withCachedTokens(reply: ChatReply, counted: Usage | undefined): ChatReply {
  const { usage } = reply;
  if (!isJsonObject(usage) || counted?.cacheRead === undefined) return reply;
  const { prompt_tokens_details: details }: ChatUsage = usage;
  if (typeof member<ChatUsageDetails>(details, 'cached_tokens') === 'number') return reply;
  const placed = { ...objectOr(details), cached_tokens: counted.cacheRead };
  return { ...reply, usage: { ...usage, prompt_tokens_details: placed } };
}

/** True for a chunk with usage at the top level, where clients read it: some vendors nest usage in another member. */
function isUsageChunk(event: StreamEvent): boolean {
  return (
    (event.isLong || /"usage"\s*:\s*\{/.test(event.text)) && isJsonObject(member<ChatReply>(event.parse(), 'usage'))
  );
}
