import type { Usage } from '#core/facts.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { count, member } from '../request/members.ts';

/**
 * Reads the counts of tokens. Sources: OpenAI API reference, "The chat completion object"; the same of DeepSeek
 * (`prompt_cache_hit_tokens`), Moonshot (`cached_tokens`), Mistral (`num_cached_tokens`), DashScope
 * (`cache_creation_input_tokens`) and xAI (reasoning beside the completion).
 */
export function chatUsage(usage: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const details = usage['prompt_tokens_details'];
  const reasoning = count(member(usage['completion_tokens_details'], 'reasoning_tokens'));
  return {
    input: count(usage['prompt_tokens']),
    output: outputOf(usage, reasoning),
    cacheRead:
      count(member(details, 'cached_tokens')) ??
      count(usage['prompt_cache_hit_tokens']) ??
      count(usage['cached_tokens']) ??
      count(usage['num_cached_tokens']),
    cacheWrite: count(member(details, 'cache_write_tokens')) ?? count(member(details, 'cache_creation_input_tokens')),
    reasoning,
  };
}

/** The total tells whether reasoning is counted beside the completion; there it has to be added. */
function outputOf(usage: JsonObject, reasoning = 0): number | undefined {
  const output = count(usage['completion_tokens']);
  const total = count(usage['total_tokens']);
  const input = count(usage['prompt_tokens']);
  if (output === undefined || input === undefined) return output;
  return reasoning > 0 && total === input + output + reasoning ? output + reasoning : output;
}
