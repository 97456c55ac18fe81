import type { Usage } from '#core/gateway/facts.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { isJsonObject } from '#core/platform/json.ts';
import { UsageMeter } from '../../../canonical/usage-meter.ts';
import type { ChatReply, ChatRequest, ChatStreamOptions, ChatUsage, ChatUsageDetails } from '../../../wire/chat.ts';
import { asObject, readMember } from '../../../wire/members.ts';
import {
  type AnsweredRequest,
  completeUsage,
  hasTokenCounts,
  type ReplyAdapter,
  replaceDataInText,
} from '../../contract/pass-through.ts';
import { writeUsage } from './reply-object.ts';

/** Adds usage if the client expects it, and hides usage that only the gateway requested. */
export class ChatReplyAdapter implements ReplyAdapter {
  readonly meter: UsageMeter;
  readonly #wantsUsage: boolean;
  #isUsagePending: boolean;
  #hasSentUsage = false;
  #lastChunk: StreamEvent | undefined;

  constructor(request: AnsweredRequest) {
    const { stream_options: options }: ChatRequest = request.outline;
    this.meter = new UsageMeter(request);
    this.#wantsUsage = readMember<ChatStreamOptions>(options, 'include_usage') === true;
    this.#isUsagePending = this.#wantsUsage;
  }

  adaptEvent(event: StreamEvent, reportedUsage?: Usage): string {
    const { text, data } = event;
    if (!event.isPlain && isUsageChunk(event)) {
      if (hasTokenCounts(reportedUsage)) this.#isUsagePending = false;
      if ((!this.#wantsUsage || this.#isUsagePending) && /"choices"\s*:\s*\[\s*\]/.test(text)) {
        // Either only the gateway requested it, or it lacks counts and is sent last, because clients add up all chunks' counts.
        this.#lastChunk = event;
        return '';
      }
      this.#hasSentUsage = true;
      const chunk: ChatReply = event.parse() ?? {};
      const adaptedChunk = addCachedTokens(chunk, reportedUsage);
      return adaptedChunk === chunk ? text : replaceDataInText(text, adaptedChunk);
    }
    if (data?.startsWith('[DONE]') === true) return this.renderEnd(reportedUsage) + text;
    if (data !== undefined) {
      this.meter.addDelta(event);
      this.#lastChunk = event;
    }
    return text;
  }

  adaptReply(text: string, body: ChatReply, reportedUsage?: Usage): string {
    if (hasTokenCounts(reportedUsage)) {
      const adaptedReply = addCachedTokens(body, reportedUsage);
      return adaptedReply === body ? text : JSON.stringify(adaptedReply);
    }
    this.meter.addWhole(body);
    const counts = writeUsage(this.meter.complete(reportedUsage, true));
    return JSON.stringify({ ...body, usage: completeUsage(body.usage, counts) });
  }

  /** Returns the usage chunk that the client requested, if the upstream did not send it with counts. */
  renderEnd(reportedUsage?: Usage): string {
    if (!this.#isUsagePending) return '';
    this.#isUsagePending = false;
    const counts = this.meter.complete(reportedUsage, true);
    // An empty answer has no tokens, so the usage already sent with its last choice is complete.
    if (this.#hasSentUsage && counts.isEstimated !== true) return '';
    const chunk: ChatReply = this.#lastChunk?.parse() ?? {};
    const usage = completeUsage(chunk.usage, writeUsage(counts));
    return replaceDataInText(this.#lastChunk?.text ?? '', { ...chunk, choices: [], usage });
  }
}

function addCachedTokens(reply: ChatReply, reportedUsage: Usage | undefined): ChatReply {
  const { usage } = reply;
  if (!isJsonObject(usage) || reportedUsage?.cacheRead === undefined) return reply;
  const { prompt_tokens_details: details }: ChatUsage = usage;
  if (typeof readMember<ChatUsageDetails>(details, 'cached_tokens') === 'number') return reply;
  // Clients do not read the names that DeepSeek, Moonshot and Mistral use.
  const completedDetails = { ...asObject(details), cached_tokens: reportedUsage.cacheRead };
  return { ...reply, usage: { ...usage, prompt_tokens_details: completedDetails } };
}

function isUsageChunk(event: StreamEvent): boolean {
  // Clients read usage at the top level; some vendors nest it elsewhere.
  return (
    (event.isLong || /"usage"\s*:\s*\{/.test(event.text)) && isJsonObject(readMember<ChatReply>(event.parse(), 'usage'))
  );
}
