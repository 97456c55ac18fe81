import type { Usage } from '#core/facts.ts';
import type { JsonObject, JsonValue } from '#core/json.ts';
import { count, member, sum } from '../request/members.ts';

/**
 * Reads usage. Gemini counts thoughts separately from the answer, and tool prompts separately from the prompt.
 */
export function readUsage(usage: JsonValue | undefined): Usage | undefined {
  const input = count(member(usage, 'promptTokenCount'));
  if (input === undefined) return undefined;
  const reasoning = count(member(usage, 'thoughtsTokenCount'));
  return {
    input: sum(input, count(member(usage, 'toolUsePromptTokenCount'))),
    output: sum(count(member(usage, 'candidatesTokenCount')), reasoning),
    cacheRead: count(member(usage, 'cachedContentTokenCount')),
    reasoning,
  };
}

/** Writes usage. Counts of zero are left out, as Google does. */
export function writeUsage({ input = 0, output = 0, cacheRead = 0, reasoning = 0 }: Usage): JsonObject {
  return {
    promptTokenCount: input,
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    candidatesTokenCount: Math.max(0, output - reasoning),
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    totalTokenCount: input + Math.max(output, reasoning),
  };
}
