import type { JsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { Conversation } from '../../../canonical/conversation.ts';
import { instructionText } from '../../../canonical/dialogue.ts';
import { writeEndUser, shortenId } from '../../../canonical/openai.ts';
import { writeFormat } from '../../../canonical/output-format.ts';
import { requestedEffort } from '../../../canonical/reasoning.ts';
import { withoutUnset } from '../../../wire/members.ts';
import { writeMessages } from './write-messages.ts';
import { noteReasoningDropped, refusesToolsWithReasoning, writeReasoning } from './write-reasoning.ts';
import { writeTools } from './write-tools.ts';
import type { ChatMessage, ChatRequest, ChatResponseFormat } from '../../../wire/chat.ts';

const tiers = new Set(['auto', 'default', 'flex', 'scale', 'priority']);

/**
 * Encodes a request for a chat completion, as OpenAI documents it; adaptations.ts has what vendors do differently. Source:
 * OpenAI API reference, "Create chat completion".
 *
 * @throws GatewayError `not_supported`
 */
export function encodeRequest(conversation: Conversation, target: EncodeTarget): JsonObject {
  const { format, instruction } = writeFormat(conversation, target);
  const tools = writeTools(conversation, target);
  const request: ChatRequest = {
    model: target.model,
    messages: [...writeInstructions(conversation, instruction), ...writeMessages(conversation.items, target)],
    ...tools,
    ...writeThinking(conversation, target, tools.tools !== undefined),
    response_format: nestFormat(format),
    max_completion_tokens: conversation.maxOutputTokens,
    ...writeSampling(conversation, target),
    stop: conversation.stop.length === 0 ? undefined : [...conversation.stop],
    ...writeEndUser(conversation, target),
    ...writeExtras(conversation, target),
    stream: target.isStream,
  };
  return withoutUnset(request);
}

function writeInstructions(conversation: Conversation, more: string | undefined): ChatMessage[] {
  const text = [instructionText(conversation), more ?? ''].filter((one) => one !== '').join('\n\n');
  return text === '' ? [] : [{ role: 'developer', content: text }];
}

function writeThinking(conversation: Conversation, target: EncodeTarget, hasTools: boolean): ChatRequest {
  if (!hasTools || !refusesToolsWithReasoning(target.profile)) return writeReasoning(conversation, target);
  if (requestedEffort(conversation.reasoning) !== 'none') noteReasoningDropped(target.notes);
  return { reasoning_effort: 'none' };
}

/** This format nests the schema one level deeper than Responses. */
function nestFormat(format: ChatResponseFormat | undefined): ChatResponseFormat | undefined {
  if (format?.type !== 'json_schema') return format;
  const { type, ...wanted } = format;
  return { type, json_schema: wanted };
}

function writeSampling({ sampling }: Conversation, { notes }: EncodeTarget): ChatRequest {
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, seed } = sampling;
  if (topK !== undefined) notes.drop('top_k');
  return {
    temperature,
    top_p: topP,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    seed,
  };
}

/**
 * Members that OpenAI has and many others refuse. They are as new as custom tools: an endpoint that knows those knows these.
 */
function writeExtras(conversation: Conversation, { profile, notes }: EncodeTarget): ChatRequest {
  const { verbosity, cacheKey, serviceTier, metadata } = conversation;
  const isKnownTier = serviceTier !== undefined && tiers.has(serviceTier);
  if (serviceTier !== undefined && !isKnownTier) notes.drop('service_tier');
  // OpenAI accepts it only for stored answers.
  if (metadata !== undefined) notes.drop('metadata');
  const extras: ChatRequest = {
    verbosity,
    prompt_cache_key: cacheKey && shortenId(cacheKey),
    service_tier: isKnownTier ? serviceTier : undefined,
  };
  if (profile.quirks.freeform_tools) return extras;
  notes.dropSet(extras);
  return {};
}
