import type { Usage } from '#core/gateway/facts.ts';
import { type JsonValue, isJsonObject } from '#core/platform/json.ts';
import { createFailureFragment, type FinishReason, type Fragment, resolveFinish } from '../../../canonical/reply.ts';
import { asObject, asText, readMember, asCount, sumDefined } from '../../../wire/members.ts';
import type { MessagesEnding, MessagesUsage, MessagesUsageDetails } from '../../../wire/messages.ts';

/** Vendors that imitate the format add their own reasons. Any other reason also ends the answer. */
const finishReasons = new Map<string, FinishReason>([
  ['end_turn', 'stop'],
  ['max_tokens', 'length'],
  ['stop_sequence', 'stop_sequence'],
  ['tool_use', 'tool_calls'],
  ['pause_turn', 'pause'],
  ['refusal', 'content_filter'],
  ['model_context_window_exceeded', 'context_length'],
  ['length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['sensitive', 'content_filter'],
]);
const failureReasons = new Set(['error', 'network_error']);

export const stopReasons: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  context_length: 'model_context_window_exceeded',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
  pause: 'pause_turn',
};

/** Corrects a stop reason that contradicts the content or the stop sequence, or comes from another format. */
export function correctStopReason(ending: MessagesEnding, hasCalls: boolean): JsonValue | undefined {
  const { stop_reason: reported } = ending;
  const reason = mapStopReason(ending);
  return reason === undefined ? reported : stopReasons[resolveFinish(reason, hasCalls)];
}

function mapStopReason({ stop_reason: reported, stop_sequence: sequence }: MessagesEnding): FinishReason | undefined {
  const reason = typeof reported === 'string' ? finishReasons.get(reported) : undefined;
  // llama.cpp sends a stop sequence together with `end_turn`.
  return reason === 'stop' && asText(sequence) !== '' ? 'stop_sequence' : reason;
}

/** Returns undefined if the reply continues. */
export function readFinish(ending: JsonValue | undefined): Extract<Fragment, { type: 'finish' | 'error' }> | undefined {
  const members: MessagesEnding = asObject(ending);
  const { stop_reason: reported, stop_sequence: sequence } = members;
  if (typeof reported !== 'string' || reported === '') return undefined;
  if (failureReasons.has(reported)) return createFailureFragment('upstream.reason.finished', { finish: reported });
  const reason = mapStopReason(members) ?? 'stop';
  return { type: 'finish', reason, stopSequence: typeof sequence === 'string' ? sequence : undefined };
}

/**
 * Collects a reply's usage, which arrives in two parts. Counts in the second part replace those in the first, except for zeros, because
 * some vendors send each count in only one part.
 *
 * Source: Anthropic API reference, "Messages", usage.
 */
export class UsageCounter {
  usage: Usage | undefined;
  readonly #counts: Record<string, number> = {};

  add(usage: JsonValue | undefined): void {
    if (!isJsonObject(usage)) return;
    for (const [name, value] of Object.entries(readCounts(usage))) {
      if (value !== undefined && (value > 0 || this.#counts[name] === undefined)) this.#counts[name] = value;
    }
    const { input, output, cacheRead, cacheWrite, reasoning } = this.#counts;
    // Anthropic does not count cached tokens as input; all other vendors do.
    const total = input === undefined ? undefined : sumDefined(input, cacheRead, cacheWrite);
    this.usage = { input: total, output, cacheRead, cacheWrite, reasoning };
  }
}

function readCounts(usage: MessagesUsage): Record<string, number | undefined> {
  return {
    input: asCount(usage.input_tokens),
    output: asCount(usage.output_tokens),
    cacheRead: asCount(usage.cache_read_input_tokens),
    cacheWrite: asCount(usage.cache_creation_input_tokens),
    reasoning: asCount(readMember<MessagesUsageDetails>(usage.output_tokens_details, 'thinking_tokens')),
  };
}

/** The input count excludes cached tokens. */
export function writeUsage({
  input = 0,
  output = 0,
  cacheRead = 0,
  cacheWrite = 0,
  reasoning = 0,
}: Usage): MessagesUsage {
  return {
    input_tokens: Math.max(0, input - cacheRead - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning },
    server_tool_use: null,
  };
}

const tiers = new Map([
  ['default', 'standard'],
  ['priority', 'priority'],
  ['batch', 'batch'],
]);

/** Unknown values, such as cache lifetimes, are null. */
export function writeMessageUsage(usage: Usage, tier?: string): MessagesUsage {
  const service_tier = (tier === undefined ? undefined : tiers.get(tier)) ?? null;
  return { ...writeUsage(usage), cache_creation: null, inference_geo: null, service_tier, speed: null };
}
