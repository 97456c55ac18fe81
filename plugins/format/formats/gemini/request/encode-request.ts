import type { JsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { Conversation } from '../../../canonical/conversation.ts';
import { normalizeCalls, toTurns } from '../../../canonical/dialogue.ts';
import { instructionFor } from '../../../canonical/output-format.ts';
import { withoutUnset } from '../../../wire/members.ts';
import { cleanSchema } from '../schema/clean-schema.ts';
import { writeContents } from './write-contents.ts';
import { writeThinking } from './write-thinking.ts';
import { writeTools } from './write-tools.ts';
import type { GeminiContent, GeminiGeneration, GeminiRequest } from '../../../wire/gemini.ts';

/**
 * Writes a request to generate content. Source: Gemini API reference, "GenerateContent".
 *
 * @throws GatewayError `not_supported`
 */
export function encodeRequest(conversation: Conversation, target: EncodeTarget): JsonObject {
  const { config, instruction } = writeFormat(conversation, target);
  noteUnsaid(conversation, target);
  const generation: GeminiGeneration = {
    ...writeSampling(conversation),
    maxOutputTokens: conversation.maxOutputTokens,
    stopSequences: conversation.stop.length === 0 ? undefined : [...conversation.stop],
    ...config,
    thinkingConfig: writeThinking(conversation.reasoning, target),
  };
  const generationConfig = withoutUnset(generation);
  const request: GeminiRequest = {
    systemInstruction: writeSystem(conversation, instruction),
    contents: writeContents(toTurns(normalizeCalls(conversation.items)), target),
    ...writeTools(conversation, target),
    generationConfig: Object.keys(generationConfig).length === 0 ? undefined : generationConfig,
  };
  return withoutUnset(request);
}

function writeSystem({ instructions }: Conversation, instruction: string | undefined): GeminiContent | undefined {
  const texts = instruction === undefined ? instructions : [...instructions, instruction];
  const parts = texts.filter((text) => text.trim() !== '').map((text) => ({ text }));
  return parts.length === 0 ? undefined : { parts };
}

function writeSampling({ sampling }: Conversation): GeminiGeneration {
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

/** How an output format is requested: in the configuration, by an instruction, or both. */
export interface GeminiOutputFormat {
  readonly config?: GeminiGeneration;
  /** Goes after all other instructions. */
  readonly instruction?: string;
}

const json: GeminiGeneration = { responseMimeType: 'application/json' };

/** Requests JSON in the strictest way that the model supports. Source: Gemini docs, "Structured output". */
export function writeFormat({ output, tools }: Conversation, { profile, notes }: EncodeTarget): GeminiOutputFormat {
  if (output === undefined) return {};
  const { quirks, capabilities } = profile;
  // Older models reject an output format together with functions.
  const isCombined = tools.length > 0 && capabilities.tools && quirks.reasoning !== 'level';
  const known = isCombined ? 'none' : capabilities.structured_output;
  if (output.type === 'json_object' && known !== 'none') return { config: json };
  if (output.type === 'json_schema' && known === 'schema') {
    const schema: GeminiGeneration =
      quirks.tool_schema === 'subset'
        ? { responseSchema: cleanSchema(output.schema, notes) }
        : { responseJsonSchema: output.schema };
    return { config: { ...json, ...schema } };
  }
  notes.approximate(`${output.type} as instruction`);
  return { ...(known !== 'none' && { config: json }), instruction: instructionFor(output) };
}
