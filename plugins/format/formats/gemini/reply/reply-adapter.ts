import type { Usage } from '#core/gateway/facts.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import {
  type AnsweredRequest,
  hasTokenCounts,
  asObject,
  type ReplyAdapter,
  replaceDataInText,
} from '../../contract/pass-through.ts';
import { UsageMeter } from '../../../canonical/usage-meter.ts';
import { member } from '../../../wire/members.ts';
import { tagSignatures } from '../request/thought-signature.ts';
import { writeUsage } from './finish.ts';
import type { GeminiCandidate, GeminiReply } from '../../../wire/gemini.ts';

export class GeminiReplyAdapter implements ReplyAdapter {
  readonly meter: UsageMeter;
  readonly #origin: string;

  constructor(request: AnsweredRequest, origin: string) {
    this.meter = new UsageMeter(request);
    this.#origin = origin;
  }

  adaptEvent(event: StreamEvent, counted?: Usage): string {
    const { text } = event;
    if (text.includes('"candidates"')) this.meter.delta(event);
    const chunk = !hasTokenCounts(counted) && text.includes('"finishReason"') ? event.parse() : undefined;
    const isLast = chunk !== undefined && hasFinished(chunk);
    return tagSignatures(isLast ? replaceDataInText(text, this.#withUsage(chunk, counted)) : text, this.#origin);
  }

  adaptReply(text: string, body: GeminiReply, counted?: Usage): string {
    if (hasTokenCounts(counted)) return tagSignatures(text, this.#origin);
    this.meter.whole(body);
    return tagSignatures(JSON.stringify(this.#withUsage(body, counted)), this.#origin);
  }

  #withUsage(body: GeminiReply, counted: Usage | undefined): GeminiReply {
    const usage = writeUsage(this.meter.complete(counted, true));
    return { ...body, usageMetadata: { ...asObject(body.usageMetadata), ...usage } };
  }
}

function hasFinished({ candidates }: GeminiReply): boolean {
  return (
    Array.isArray(candidates) &&
    candidates.some((one) => typeof member<GeminiCandidate>(one, 'finishReason') === 'string')
  );
}
