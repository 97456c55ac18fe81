import type { Usage } from '#core/gateway/facts.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { UsageMeter } from '../../../canonical/usage-meter.ts';
import type { GeminiCandidate, GeminiReply } from '../../../wire/gemini.ts';
import { asObject, asList, readMember } from '../../../wire/members.ts';
import {
  type AnsweredRequest,
  hasTokenCounts,
  type ReplyAdapter,
  replaceDataInText,
} from '../../contract/pass-through.ts';
import { tagSignatures } from '../request/thought-signature.ts';
import { writeUsage } from './finish.ts';

/** Tags signatures with their origin and adds usage that the upstream did not report. */
export class GeminiReplyAdapter implements ReplyAdapter {
  readonly meter: UsageMeter;
  readonly #origin: string;

  constructor(request: AnsweredRequest, origin: string) {
    this.meter = new UsageMeter(request);
    this.#origin = origin;
  }

  adaptEvent(event: StreamEvent, reportedUsage?: Usage): string {
    const { text } = event;
    if (text.includes('"candidates"')) this.meter.addDelta(event);
    const lacksUsage = !hasTokenCounts(reportedUsage) && text.includes('"finishReason"');
    const chunk = lacksUsage ? event.parse() : undefined;
    const isLast = chunk !== undefined && hasFinished(chunk);
    return tagSignatures(isLast ? replaceDataInText(text, this.#addUsage(chunk, reportedUsage)) : text, this.#origin);
  }

  adaptReply(text: string, body: GeminiReply, reportedUsage?: Usage): string {
    if (hasTokenCounts(reportedUsage)) return tagSignatures(text, this.#origin);
    this.meter.addWhole(body);
    return tagSignatures(JSON.stringify(this.#addUsage(body, reportedUsage)), this.#origin);
  }

  #addUsage(body: GeminiReply, reportedUsage: Usage | undefined): GeminiReply {
    const usage = writeUsage(this.meter.complete(reportedUsage, true));
    return { ...body, usageMetadata: { ...asObject(body.usageMetadata), ...usage } };
  }
}

function hasFinished({ candidates }: GeminiReply): boolean {
  return asList(candidates).some(
    (candidate) => typeof readMember<GeminiCandidate>(candidate, 'finishReason') === 'string',
  );
}
