import { isJsonObject, type JsonValue } from '#core/json.ts';
import { wantsReasoning } from '../canonical/replayed-reasoning.ts';
import { mapEntries } from '../pass-through/adapt-members.ts';
import type { Adaptation } from '../pass-through/adaptation.ts';
import { member } from '../request/members.ts';

/**
 * Begins the answers of the history with a thinking block where the vendor rejects those without. An empty one is
 * accepted where the thoughts are lost. Source: DeepSeek, "The `content[].thinking` in the thinking mode must be passed
 * back to the API."; qwen-code#3788.
 */
export const replayThinking: Adaptation = (body, { profile }) => {
  const { messages } = body;
  if (!wantsReasoning(profile, true) || member(body['thinking'], 'type') === 'disabled') return body;
  if (!Array.isArray(messages)) return body;
  const replayed = mapEntries(messages, (message) => {
    if (!isJsonObject(message) || message['role'] !== 'assistant') return message;
    const content = blocksOf(message['content']);
    if (content.some(isThinking) || !wantsReasoning(profile, content.some(isCall))) return message;
    return { ...message, content: [{ type: 'thinking', thinking: '', signature: '' }, ...content] };
  });
  return replayed === messages ? body : { ...body, messages: replayed };
};

function blocksOf(content: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : [];
}

function isCall(block: JsonValue): boolean {
  return member(block, 'type') === 'tool_use';
}

function isThinking(block: JsonValue): boolean {
  const type = member(block, 'type');
  return type === 'thinking' || type === 'redacted_thinking';
}
