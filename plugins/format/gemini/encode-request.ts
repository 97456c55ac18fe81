import type { JsonObject } from '#core/json.ts';
import type { EncodeTarget } from '../canonical/codec.ts';
import type { Conversation } from '../canonical/conversation.ts';
import { normalizeCalls, toTurns } from '../canonical/dialogue.ts';
import { writeContents } from './write-contents.ts';
import { writeFormat } from './write-output-format.ts';
import { writeThinking } from './write-thinking.ts';
import { writeTools } from './write-tools.ts';
import { withoutUnset } from '../request/members.ts';

/**
 * Writes a request to generate content. Source: Gemini API reference, "GenerateContent".
 *
 * @throws GatewayError `not_supported`
 */
export function encodeRequest(conversation: Conversation, target: EncodeTarget): JsonObject {
  const { config, instruction } = writeFormat(conversation, target);
  noteUnsaid(conversation, target);
  const generationConfig = withoutUnset({
    ...writeSampling(conversation),
    maxOutputTokens: conversation.maxOutputTokens,
    stopSequences: conversation.stop.length === 0 ? undefined : [...conversation.stop],
    ...config,
    thinkingConfig: writeThinking(conversation.reasoning, target),
  });
  return withoutUnset({
    systemInstruction: writeSystem(conversation, instruction),
    contents: writeContents(toTurns(normalizeCalls(conversation.items)), target),
    ...writeTools(conversation, target),
    generationConfig: Object.keys(generationConfig).length === 0 ? undefined : generationConfig,
  });
}

function writeSystem({ instructions }: Conversation, instruction: string | undefined): JsonObject | undefined {
  const texts = instruction === undefined ? instructions : [...instructions, instruction];
  const parts = texts.filter((text) => text.trim() !== '').map((text) => ({ text }));
  return parts.length === 0 ? undefined : { parts };
}

function writeSampling({ sampling }: Conversation): JsonObject {
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, seed } = sampling;
  return {
    temperature,
    topP,
    topK,
    presencePenalty: presencePenalty || undefined,
    frequencyPenalty: frequencyPenalty || undefined,
    seed,
  };
}

/** Notes what the format cannot express. */
function noteUnsaid(conversation: Conversation, { notes }: EncodeTarget): void {
  const { user, safetyId, verbosity, cacheKey, isCacheKeyImplied, serviceTier, metadata } = conversation;
  const unsaid = {
    user,
    safety_identifier: safetyId,
    verbosity,
    prompt_cache_key: isCacheKeyImplied === true ? undefined : cacheKey,
    service_tier: serviceTier,
    metadata,
  };
  notes.dropSet(unsaid);
}
