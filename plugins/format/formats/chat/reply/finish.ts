import type { Profile } from '#core/config/catalog/profile.ts';
import type { Usage } from '#core/gateway/facts.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { type JsonValue, isJsonObject } from '#core/platform/json.ts';
import { readFailure, type FinishReason, type Fragment } from '../../../canonical/reply.ts';
import type { ChatChoice, ChatReply, ChatUsage, ChatUsageDetails } from '../../../wire/chat.ts';
import { asText, asCount, readMember } from '../../../wire/members.ts';

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['end_turn', 'stop'],
  ['complete', 'stop'],
  ['stop_sequence', 'stop_sequence'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  ['model_length', 'context_length'],
  ['model_context_window_exceeded', 'context_length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['sensitive', 'content_filter'],
  ['safety', 'content_filter'],
  ['refusal', 'content_filter'],
]);
const failedReasons = new Set(['error', 'network_error', 'insufficient_system_resource', 'abort']);

/** Reads how a choice ended: `failed` if the vendor aborted it, undefined if it continues. An unknown reason ends the choice. */
export function readFinish(choice: ChatChoice): Extract<Fragment, { type: 'finish' }> | 'failed' | undefined {
  const reportedReason = asText(choice.finish_reason).toLowerCase();
  if (reportedReason === '' || reportedReason === 'null') return undefined;
  if (failedReasons.has(reportedReason)) return 'failed';
  const reason = finishReasons.get(reportedReason) ?? 'stop';
  // vLLM puts the stop sequence here, other servers a reason.
  const stop = asText(choice.stop_reason);
  const isSequence = reason === 'stop' && stop !== '' && !finishReasons.has(stop.toLowerCase());
  return isSequence
    ? { type: 'finish', reason: 'stop_sequence', stopSequence: stop }
    : { type: 'finish', reason, stopSequence: undefined };
}

/** Reads the error of a choice that the vendor reports as failed; undefined for any other choice. */
export function readAbort(choice: ChatChoice): GatewayError | undefined {
  const error = readFailure(choice);
  if (error !== undefined || readFinish(choice) !== 'failed') return error;
  // DeepSeek reports an overload with this reason.
  const code = choice.finish_reason === 'insufficient_system_resource' ? 'unavailable' : 'upstream_failed';
  return new GatewayError(code, upstreamReason('upstream.reason.aborted'));
}

/** Profiles of routes that have sent a finish reason in a stream since the last reload. */
const routesWithFinish = new WeakSet<Profile>();

export function noteFinish(profile: Profile | undefined): void {
  if (profile !== undefined) routesWithFinish.add(profile);
}

/**
 * Classifies a stream that ends with [DONE] but without a finish reason: `whole` if the vendor's quirks say that it sends none, `cut` if
 * the route has sent finish reasons before, otherwise `unknown`.
 */
export function classifyMissingFinish(profile: Profile | undefined): 'whole' | 'cut' | 'unknown' {
  if (profile?.quirks.finish_reason === false) return 'whole';
  return profile !== undefined && routesWithFinish.has(profile) ? 'cut' : 'unknown';
}

export function createMissingFinishError(): GatewayError {
  return new GatewayError('upstream_failed', upstreamReason('upstream.reason.no_finish'));
}

/** Reads the usage of a reply or a chunk. Groq reports it in `x_groq`, Moonshot in the choice. */
export function readUsage(body: ChatReply): Usage | undefined {
  const choice = Array.isArray(body.choices) ? body.choices[0] : undefined;
  return (
    readCounts(body.usage) ??
    readCounts(readMember<ChatChoice>(choice, 'usage')) ??
    readCounts(readMember<ChatReply>(body.x_groq, 'usage'))
  );
}

/**
 * Reads token counts under the names that any vendor uses. Sources: OpenAI API reference, "The chat completion object"; the docs of
 * DeepSeek (`prompt_cache_hit_tokens`), Moonshot (`cached_tokens`), Mistral (`num_cached_tokens`), DashScope
 * (`cache_creation_input_tokens`) and xAI (reasoning is not part of the completion).
 */
function readCounts(value: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const usage: ChatUsage = value;
  const details = usage.prompt_tokens_details;
  const reasoning = asCount(readMember<ChatUsageDetails>(usage.completion_tokens_details, 'reasoning_tokens'));
  return {
    input: asCount(usage.prompt_tokens),
    output: readOutputTokens(usage, reasoning),
    cacheRead:
      asCount(readMember<ChatUsageDetails>(details, 'cached_tokens')) ??
      asCount(usage.prompt_cache_hit_tokens) ??
      asCount(usage.cached_tokens) ??
      asCount(usage.num_cached_tokens),
    cacheWrite:
      asCount(readMember<ChatUsageDetails>(details, 'cache_write_tokens')) ??
      asCount(readMember<ChatUsageDetails>(details, 'cache_creation_input_tokens')),
    reasoning,
  };
}

function readOutputTokens(usage: ChatUsage, reasoning = 0): number | undefined {
  const output = asCount(usage.completion_tokens);
  const total = asCount(usage.total_tokens);
  const input = asCount(usage.prompt_tokens);
  if (output === undefined || input === undefined) return output;
  // The total shows whether the completion count includes the reasoning tokens.
  return reasoning > 0 && total === input + output + reasoning ? output + reasoning : output;
}
