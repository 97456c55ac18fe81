import { createHash } from 'node:crypto';
import type { JsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { Conversation } from '../../../canonical/conversation.ts';
import { normalizeCalls, groupIntoTurns } from '../../../canonical/dialogue.ts';
import { moveGeneratedImages } from '../../../canonical/generated-images.ts';
import { noteLostDescription, writeFormat, type WrittenFormat } from '../../../canonical/output-format.ts';
import { asFilledObject, asFilledText, withoutUndefined } from '../../../wire/members.ts';
import type { MessagesMetadata, MessagesRequest } from '../../../wire/messages.ts';
import { writeSettings } from '../../contract/settings.ts';
import { writeCacheControl, markBreakpoints } from './cache-breakpoints.ts';
import { messagesBounds, messagesParameters } from './parameters.ts';
import { writeMessages } from './write-messages.ts';
import { writeThinking } from './write-thinking.ts';
import { writeTools } from './write-tools.ts';

/** A lower limit would cut answers off; older models reject a higher one. */
const defaultMaxTokens = 32_000;

/**
 * Writes a request for a message. Source: Anthropic API reference, "Create a Message".
 *
 * @throws GatewayError `not_supported`
 */
export function encodeRequest(conversation: Conversation, target: EncodeTarget): JsonObject {
  const { isStream, model } = target;
  const items = moveGeneratedImages(conversation.items, target.profile.capabilities.images, target.notes);
  const turns = groupIntoTurns(normalizeCalls(items));
  const maxTokens = writeLimit(conversation, target);
  const { format, instruction } = writeOutputFormat(conversation, target);
  const { thinking, effort } = writeThinking(conversation.reasoning, turns, maxTokens, target);
  const isThinking = thinking !== undefined && thinking.type !== 'disabled';
  const instructions = joinInstructions(conversation, instruction);
  const messages = writeMessages(turns, target);
  const prompt = markBreakpoints(messages, conversation, target, instructions !== undefined);
  const request: MessagesRequest = {
    model,
    max_tokens: maxTokens,
    system: prompt.areInstructionsMarked
      ? [{ type: 'text', text: instructions, cache_control: writeCacheControl(conversation) }]
      : instructions,
    messages: prompt.messages,
    ...writeTools(conversation, target, isThinking),
    thinking,
    output_config: asFilledObject(withoutUndefined({ effort, format })),
    ...writeSampling(conversation, target, isThinking),
    ...writeSettings(conversation, messagesParameters, target),
    metadata: writeUser(conversation, target),
    cache_control: target.profile.quirks.automatic_caching ? writeCacheControl(conversation) : undefined,
    stream: isStream,
  };
  return withoutUndefined(request);
}

function writeLimit({ maxOutputTokens }: Conversation, { profile, notes }: EncodeTarget): number {
  const maxTokens = profile.quirks.max_output_tokens;
  const requestedLimit = maxOutputTokens ?? maxTokens ?? defaultMaxTokens;
  const limit = Math.min(requestedLimit, maxTokens ?? requestedLimit);
  if (limit !== requestedLimit) notes.approximate(`output token limit as ${limit}`);
  return limit;
}

function joinInstructions({ instructions }: Conversation, instruction: string | undefined): string | undefined {
  const texts = instruction === undefined ? instructions : [...instructions, instruction];
  const filledTexts = texts.filter((text) => text.trim() !== '');
  return filledTexts.length === 0 ? undefined : filledTexts.join('\n\n');
}

function writeSampling(conversation: Conversation, target: EncodeTarget, isThinking: boolean): MessagesRequest {
  if (isThinking) return writeThinkingSampling(conversation, target);
  const { temperature, topP, topK } = conversation;
  const hasTemperature = temperature !== undefined && temperature !== 1;
  // Newer models accept only one of the two. Both default to 1.
  if (hasTemperature && topP !== undefined && topP !== 1) target.notes.drop('top_p');
  if (temperature !== undefined && temperature > messagesBounds.temperature)
    target.notes.approximate(`temperature as ${messagesBounds.temperature}`);
  const usesTopP = topP !== undefined && topP !== 1 && !hasTemperature;
  return {
    temperature: temperature === undefined || usesTopP ? undefined : Math.min(temperature, messagesBounds.temperature),
    top_p: usesTopP ? topP : undefined,
    top_k: topK,
  };
}

function writeThinkingSampling({ temperature, topP, topK }: Conversation, { notes }: EncodeTarget): MessagesRequest {
  const isTopPAccepted = topP !== undefined && topP >= messagesBounds.thinkingTopP;
  if (temperature !== undefined && temperature !== 1) notes.drop('temperature');
  if (topP !== undefined && !isTopPAccepted) notes.drop('top_p');
  if (topK !== undefined) notes.drop('top_k');
  return { top_p: isTopPAccepted && topP !== 1 ? topP : undefined };
}

/** Ids that are too long or look like an email address or a phone number are hashed. */
function writeUser(
  { user: caller, safetyId, metadata = {} }: Conversation,
  { notes }: EncodeTarget,
): MessagesMetadata | undefined {
  const { user_id: id, ...otherMetadata } = metadata;
  const requestedUser = safetyId ?? caller;
  const user = requestedUser ?? asFilledText(id);
  // The user is the only metadata that can be sent.
  if (Object.keys(otherMetadata).length > 0 || (id !== undefined && id !== user)) notes.drop('metadata');
  if (user === undefined) return undefined;
  const isPlain = user.length <= messagesBounds.userLength && !/@|^\+?[\d\s().-]{7,}$/.test(user);
  return { user_id: isPlain ? user : createHash('sha256').update(user).digest('hex') };
}

/** Source: Anthropic docs, "Structured outputs". */
function writeOutputFormat(conversation: Conversation, target: EncodeTarget): WrittenFormat {
  const { output } = conversation;
  noteLostDescription(output, target.notes);
  const isEnforced = output?.type === 'json_schema' && target.profile.capabilities.structured_output === 'schema';
  const { format, instruction } = writeFormat(conversation, target, isEnforced ? 'schema' : 'none', 'anthropic');
  return { format: format && { type: 'json_schema', schema: format['schema'] }, instruction };
}
