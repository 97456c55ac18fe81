import type { Profile } from '#core/config/catalog/profile.ts';
import { isJsonObject } from '#core/platform/json.ts';
import { requiresReasoning } from '../../../canonical/reasoning.ts';
import type { ChatMessage, ChatPart } from '../../../wire/chat.ts';
import { asText } from '../../../wire/members.ts';
import { toParts } from '../../adaptation/adapt-late-system.ts';

export function acceptsReasoning(profile: Profile, hasCalls: boolean): boolean {
  const { capabilities, quirks } = profile;
  return requiresReasoning(profile, hasCalls) || (capabilities.reasoning && quirks.replay_reasoning === 'given');
}

/** A model that reasons within its text gets earlier reasoning back within the text. */
export function selectReasoningPlace({ quirks }: Profile): Profile['quirks']['replay_as'] {
  return quirks.inline_thinking ? 'think_tags' : quirks.replay_as;
}

/**
 * Puts a message's reasoning where the vendor expects it. Sources: Mistral API reference, "ThinkChunk"; Cerebras docs, "Reasoning", on
 * models that continue from their own text.
 */
export function placeReasoning(message: ChatMessage, reasoning: string, profile: Profile): ChatMessage {
  const place = selectReasoningPlace(profile);
  if (place === 'reasoning_content' || place === 'reasoning') return { ...message, [place]: reasoning };
  if (reasoning === '') return message;
  const { content } = message;
  if (place === 'thinking_parts') {
    const part: ChatPart = { type: 'thinking', thinking: [{ type: 'text', text: reasoning }] };
    return { ...message, content: [part, ...toParts(content, 'text')] };
  }
  const text = place === 'text' ? `${reasoning}\n\n` : `<think>\n${reasoning}\n</think>\n\n`;
  return {
    ...message,
    content: Array.isArray(content) ? [{ type: 'text', text }, ...content] : text + asText(content),
  };
}

export function hasReasoningInContent({ content }: ChatMessage): boolean {
  if (Array.isArray(content) && content.some((part) => isJsonObject(part) && part['type'] === 'thinking')) return true;
  return JSON.stringify(content ?? '').includes('<think>');
}
