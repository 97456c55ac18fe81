import type { Usage } from '#core/gateway/facts.ts';
import { createKeyRefusedError } from '#core/gateway/model-call/upstream-error.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonValue } from '#core/platform/json.ts';
import type { FinishReason, Fragment } from '../../../canonical/reply.ts';
import type { GeminiCandidate, GeminiFeedback, GeminiUsage } from '../../../wire/gemini.ts';
import { asText, asCount, readMember, sumDefined } from '../../../wire/members.ts';

/** Finish reasons. Vendors and mock servers invent other reasons, which also end the candidate. */
const reasons = new Map<string, FinishReason>([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['CONTINUATION', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['IMAGE_OTHER', 'content_filter'],
  ['NO_IMAGE', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
  // Filtered by an escalation rule. Source of this and the next reason: @google/genai 3.3.0, `FinishReason`.
  ['ESCALATION', 'content_filter'],
]);
/** Finish reasons that mark the model's output as unusable. */
const failedReasons = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
]);

/** Finish reason of a candidate that was withheld because the operator's account is limited or disabled. */
const accountLimitedReason = 'PUP_LIMITED_DISABLED';

/** Reads Google's finish reason of a candidate; undefined while it continues. */
function readReportedReason(candidate: JsonValue | undefined): string | undefined {
  const reportedReason = readMember<GeminiCandidate>(candidate, 'finishReason');
  return typeof reportedReason !== 'string' || reportedReason === '' || reportedReason.endsWith('_UNSPECIFIED')
    ? undefined
    : reportedReason;
}

/** Reads the finish reason of a candidate under the names that all formats share; undefined while it continues. */
export function readFinishReason(candidate: JsonValue | undefined): FinishReason | undefined {
  const reportedReason = readReportedReason(candidate);
  return reportedReason === undefined ? undefined : (reasons.get(reportedReason) ?? 'stop');
}

/** Returns the error of a candidate that its finish reason reports as unusable; undefined for any other candidate. */
export function readAbort(candidate: JsonValue | undefined): GatewayError | undefined {
  const reportedReason = readReportedReason(candidate);
  if (reportedReason === accountLimitedReason) return createKeyRefusedError(reportedReason);
  if (reportedReason === undefined || !failedReasons.has(reportedReason)) return undefined;
  const message = asText(readMember<GeminiCandidate>(candidate, 'finishMessage'));
  const finish = message === '' ? reportedReason : `${reportedReason}: ${message.slice(0, 500)}`;
  return new GatewayError('upstream_failed', upstreamReason('upstream.reason.finished', { finish }));
}

/**
 * Reads the finish of a candidate; empty while it continues.
 *
 * @param hasContent false if the candidate has no visible part; the reason of a filter then becomes a refusal
 */
export function readFinish(candidate: GeminiCandidate, hasContent: boolean): Fragment[] {
  const reportedReason = readReportedReason(candidate);
  if (reportedReason === undefined) return [];
  const error = readAbort(candidate);
  if (error !== undefined) return [{ type: 'error', error }];
  const message = asText(candidate.finishMessage);
  const reason = readFinishReason(candidate) ?? 'stop';
  const refusal: Fragment = {
    type: 'refusal',
    text: message === '' ? `The answer was withheld: ${reportedReason}.` : message,
    isReason: true,
  };
  return [...(reason === 'content_filter' && !hasContent ? [refusal] : []), { type: 'finish', reason }];
}

/** Reads the block of a prompt as a refusal that ends the reply; empty if the prompt is not blocked. */
export function readBlock(feedback: JsonValue | undefined): Fragment[] {
  const reason = asText(readMember<GeminiFeedback>(feedback, 'blockReason'));
  if (reason === '') return [];
  const message = asText(readMember<GeminiFeedback>(feedback, 'blockReasonMessage'));
  const text = message === '' ? `The prompt was blocked: ${reason}.` : message;
  return [{ type: 'refusal', text, isReason: true }, { type: 'finish', reason: 'content_filter' }, { type: 'end' }];
}

/** Reads usage. Gemini counts thoughts separately from the candidates, and the prompts of tools separately from the prompt. */
export function readUsage(usage: JsonValue | undefined): Usage | undefined {
  const input = asCount(readMember<GeminiUsage>(usage, 'promptTokenCount'));
  if (input === undefined) return undefined;
  const reasoning = asCount(readMember<GeminiUsage>(usage, 'thoughtsTokenCount'));
  return {
    input: sumDefined(input, asCount(readMember<GeminiUsage>(usage, 'toolUsePromptTokenCount'))),
    output: sumDefined(asCount(readMember<GeminiUsage>(usage, 'candidatesTokenCount')), reasoning),
    cacheRead: asCount(readMember<GeminiUsage>(usage, 'cachedContentTokenCount')),
    reasoning,
  };
}

/** Encodes usage. Omits cached tokens and thoughts if they are zero, as Google does. */
export function writeUsage({ input = 0, output = 0, cacheRead = 0, reasoning = 0 }: Usage): GeminiUsage {
  return {
    promptTokenCount: input,
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    candidatesTokenCount: Math.max(0, output - reasoning),
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    totalTokenCount: input + Math.max(output, reasoning),
  };
}
