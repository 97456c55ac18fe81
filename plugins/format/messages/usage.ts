import type { Usage } from '#core/facts.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { count, member, sum } from '../request/members.ts';

/**
 * Collects the usage of a reply. It comes in two parts, and counts of the second replace those of the first; some
 * vendors send zeros in one of them.
 *
 * Source: Anthropic API reference, "Messages", usage.
 */
export class UsageCounter {
  usage: Usage | undefined;
  readonly #counts: Record<string, number> = {};

  add(usage: JsonValue | undefined): void {
    if (!isJsonObject(usage)) return;
    for (const [name, value] of Object.entries(flat(usage))) {
      if (value !== undefined && (value > 0 || this.#counts[name] === undefined)) this.#counts[name] = value;
    }
    const { input, output, cacheRead, cacheWrite, reasoning } = this.#counts;
    // Anthropic counts cached tokens beside the input, all others within it.
    const total = input === undefined ? undefined : sum(input, cacheRead, cacheWrite);
    this.usage = { input: total, output, cacheRead, cacheWrite, reasoning };
  }
}

function flat(usage: JsonObject): Record<string, number | undefined> {
  return {
    input: count(usage['input_tokens']),
    output: count(usage['output_tokens']),
    cacheRead: count(usage['cache_read_input_tokens']),
    cacheWrite: count(usage['cache_creation_input_tokens']),
    reasoning: count(member(usage['output_tokens_details'], 'thinking_tokens')),
  };
}

/** Writes usage: the input excludes cached tokens. */
export function writeUsage({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 }: Usage): JsonObject {
  return {
    input_tokens: Math.max(0, input - cacheRead - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning },
  };
}
