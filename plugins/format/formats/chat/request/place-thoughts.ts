import type { Profile } from '#core/config/catalog/profile.ts';
import { wantsReasoning } from '../../../canonical/reasoning.ts';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { asText } from '../../../wire/members.ts';
import type { ChatMessage, ChatPart } from '../../../wire/chat.ts';

/** True if the route takes back the reasoning of an assistant message, as far as it is known. */
export function takesReasoning(profile: Profile, hasCalls: boolean): boolean {
  const { capabilities, quirks } = profile;
  return wantsReasoning(profile, hasCalls) || (capabilities.reasoning && quirks.replay_reasoning === 'given');
}

/** Where a vendor takes the reasoning of earlier turns. A model that reasons inside its text gets the reasoning back there. */
export function placeOfThoughts({ quirks }: Profile): Profile['quirks']['replay_as'] {
  return quirks.inline_thinking ? 'think_tags' : quirks.replay_as;
}

/**
 * The message with its reasoning where the vendor takes it. Sources: Mistral API reference, "ThinkChunk"; Cerebras docs,
 * "Reasoning", on models that continue from their own text.
 */
export function placeThoughts(message: ChatMessage, thoughts: string, profile: Profile): ChatMessage {
  const place = placeOfThoughts(profile);
  const { content } = message;
  switch (place) {
    case 'reasoning_content':
    case 'reasoning':
      return { ...message, [place]: thoughts };
    case 'thinking_parts': {
      const part: ChatPart = { type: 'thinking', thinking: [{ type: 'text', text: thoughts }] };
      return thoughts === '' ? message : { ...message, content: [part, ...partsOf(content)] };
    }
    default: {
      const text = place === 'text' ? `${thoughts}\n\n` : `<think>\n${thoughts}\n</think>\n\n`;
      if (thoughts === '') return message;
      return {
        ...message,
        content: Array.isArray(content) ? [{ type: 'text', text }, ...content] : text + asText(content),
      };
    }
  }
}

function partsOf(content: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(content)) return content;
  return asText(content) === '' ? [] : [{ type: 'text', text: asText(content) }];
}

/** True for a message whose content already has the reasoning. */
export function hasThoughtsInContent({ content }: ChatMessage): boolean {
  if (Array.isArray(content) && content.some((part) => isJsonObject(part) && part['type'] === 'thinking')) return true;
  return JSON.stringify(content ?? '').includes('<think>');
}
