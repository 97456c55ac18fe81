import type { Usage } from '#core/facts.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { count, member } from '../request/members.ts';

/** Reads the usage of a reply or a chunk. Groq reports it in `x_groq`, Moonshot in the choice. */
export function readUsage(body: JsonObject): Usage | undefined {
  const choice = Array.isArray(body['choices']) ? body['choices'][0] : undefined;
  return (
    readCounts(body['usage']) ?? readCounts(member(choice, 'usage')) ?? readCounts(member(body['x_groq'], 'usage'))
  );
}

/**
 * Sources: OpenAI API reference, "The chat completion object"; the docs of DeepSeek
 * (`prompt_cache_hit_tokens`), Moonshot (`cached_tokens`), Mistral (`num_cached_tokens`), DashScope
 * (`cache_creation_input_tokens`) and xAI (reasoning is not part of the completion).
 */
function readCounts(usage: JsonValue | undefined): Usage | undefined {
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

/** Adds the reasoning where the total shows that the completion does not include it. */
function outputOf(usage: JsonObject, reasoning = 0): number | undefined {
  const output = count(usage['completion_tokens']);
  const total = count(usage['total_tokens']);
  const input = count(usage['prompt_tokens']);
  if (output === undefined || input === undefined) return output;
  return reasoning > 0 && total === input + output + reasoning ? output + reasoning : output;
}
