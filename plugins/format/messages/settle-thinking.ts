import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { AdaptationTarget } from '../pass-through/adaptation.ts';
import { member } from '../request/members.ts';

/**
 * Drops thinking from a request that would be refused for it: its last messages are tool results, and the answer with
 * the calls does not begin with thinking, because another upstream has made it. After the tool loop the model thinks
 * again. Source: Anthropic docs, "Extended thinking", "Preserving thinking blocks"; adaptive thinking has no such rule.
 */
export function settleThinking(body: JsonObject, { profile, notes }: AdaptationTarget): JsonObject {
  if (!profile.quirks.signed_thinking) return body;
  if (member(body['thinking'], 'type') !== 'enabled' || !Array.isArray(body['messages'])) return body;
  const begun = beginOfLoop(body['messages']);
  if (begun === undefined || beginsWithThoughts(begun['content'])) return body;
  notes.drop('reasoning until the end of this tool loop');
  const { thinking: _, ...settled } = body;
  return settled;
}

/**
 * The first assistant message after the last user message, when results of its calls come last. Consecutive messages
 * are one turn.
 */
function beginOfLoop(messages: readonly JsonValue[]): JsonObject | undefined {
  let begun: JsonObject | undefined;
  let isAnswered = false;
  for (const message of messages.toReversed()) {
    if (!isJsonObject(message)) return undefined;
    if (message['role'] !== 'assistant') {
      isAnswered ||= hasResults(message['content']);
      continue;
    }
    if (!isAnswered) return begun;
    begun = message;
    isAnswered = false;
  }
  return begun;
}

function hasResults(content: JsonValue | undefined): boolean {
  return Array.isArray(content) && content.some((block) => member(block, 'type') === 'tool_result');
}

function beginsWithThoughts(content: JsonValue | undefined): boolean {
  const first = Array.isArray(content) ? member(content[0], 'type') : undefined;
  return first === 'thinking' || first === 'redacted_thinking';
}
