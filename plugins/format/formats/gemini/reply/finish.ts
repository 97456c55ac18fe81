import type { Usage } from '#core/gateway/facts.ts';
import { createKeyRefusedError } from '#core/gateway/model-call/upstream-error.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonValue } from '#core/platform/json.ts';
import type { FinishReason, Fragment } from '../../../canonical/reply.ts';
import type { GeminiCandidate, GeminiFeedback, GeminiUsage } from '../../../wire/gemini.ts';
import { asObject, asText, asCount, sumDefined } from '../../../wire/members.ts';

const finishReasons = new Map<string, FinishReason>([
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
const failedReasons = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
]);

const accountLimitedReason = 'PUP_LIMITED_DISABLED'; // the operator's account is limited or disabled

interface Ending {
  readonly reportedReason: string;
  readonly reason: FinishReason;
  readonly error?: GatewayError;
}

/** Returns undefined if the candidate continues. */
export function readEnding(candidate: JsonValue | undefined): Ending | undefined {
  const { finishReason: reportedReason, finishMessage }: GeminiCandidate = asObject(candidate);
  if (typeof reportedReason !== 'string' || reportedReason === '' || reportedReason.endsWith('_UNSPECIFIED'))
    return undefined;
  // Vendors and mock servers invent other reasons, which also end the candidate.
  const ending = { reportedReason, reason: finishReasons.get(reportedReason) ?? 'stop' };
  if (reportedReason === accountLimitedReason) return { ...ending, error: createKeyRefusedError(reportedReason) };
  if (!failedReasons.has(reportedReason)) return ending;
  const message = asText(finishMessage);
  const finish = message === '' ? reportedReason : `${reportedReason}: ${message.slice(0, 500)}`;
  const error = new GatewayError('upstream_failed', upstreamReason('upstream.reason.finished', { finish }));
  return { ...ending, error };
}

/** @param hasContent false if the candidate has no visible part; a filter's reason then becomes a refusal */
export function readFinish(candidate: GeminiCandidate, hasContent: boolean): Fragment[] {
  const ending = readEnding(candidate);
  if (ending === undefined) return [];
  const { reportedReason, reason, error } = ending;
  if (error !== undefined) return [{ type: 'error', error }];
  const text = asText(candidate.finishMessage) || `The answer was withheld: ${reportedReason}.`;
  const isWithheld = reason === 'content_filter' && !hasContent;
  const finish: Fragment = { type: 'finish', reason };
  return isWithheld ? [{ type: 'refusal', text, isReason: true }, finish] : [finish];
}

/** Reads a blocked prompt as a refusal that ends the reply; empty if the prompt is not blocked. */
export function readBlock(feedback: JsonValue | undefined): Fragment[] {
  const { blockReason, blockReasonMessage }: GeminiFeedback = asObject(feedback);
  const reason = asText(blockReason);
  if (reason === '') return [];
  const text = asText(blockReasonMessage) || `The prompt was blocked: ${reason}.`;
  return [{ type: 'refusal', text, isReason: true }, { type: 'finish', reason: 'content_filter' }, { type: 'end' }];
}

/** Gemini's candidate count excludes thoughts, and its prompt count excludes the prompts of tools. */
export function readUsage(usage: JsonValue | undefined): Usage | undefined {
  const counts: GeminiUsage = asObject(usage);
  const input = asCount(counts.promptTokenCount);
  if (input === undefined) return undefined;
  const reasoning = asCount(counts.thoughtsTokenCount);
  return {
    input: sumDefined(input, asCount(counts.toolUsePromptTokenCount)),
    output: sumDefined(asCount(counts.candidatesTokenCount), reasoning),
    cacheRead: asCount(counts.cachedContentTokenCount),
    reasoning,
  };
}

/** Omits cached tokens and thoughts if they are zero, as Google does. */
export function writeUsage({ input = 0, output = 0, cacheRead = 0, reasoning = 0 }: Usage): GeminiUsage {
  return {
    promptTokenCount: input,
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    candidatesTokenCount: Math.max(0, output - reasoning),
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    totalTokenCount: input + Math.max(output, reasoning),
  };
}
