import { createHash } from 'node:crypto';
import type { JsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { Conversation } from '../../../canonical/conversation.ts';
import { normalizeCalls, toTurns } from '../../../canonical/dialogue.ts';
import { showMadeImages } from '../../../canonical/made-images.ts';
import { noteDescription, writeFormat, type WrittenFormat } from '../../../canonical/output-format.ts';
import { undefinedIfEmpty } from '../../adaptation/adapt-members.ts';
import { writeSettings } from '../../contract/settings.ts';
import { messagesBounds, messagesParameters } from './parameters.ts';
import { cacheMark, markBreakpoints } from './cache-breakpoints.ts';
import { writeMessages } from './write-messages.ts';
import { writeThinking } from './write-thinking.ts';
import { writeTools } from './write-tools.ts';
import { filledText, withoutUnset } from '../../../wire/members.ts';
import type { MessagesMetadata, MessagesRequest } from '../../../wire/messages.ts';

/** The output limit if neither client nor catalog sets one: less would truncate answers, and older models reject more. */
const defaultMaxTokens = 32_000;

/**
 * Writes a request for a message. Source: Anthropic API reference, "Create a Message".
 *
 * @throws GatewayError `not_supported`
 */
export function encodeRequest(conversation: Conversation, target: EncodeTarget): JsonObject {
  const { isStream, model } = target;
  const items = showMadeImages(conversation.items, target.profile.capabilities.images, target.notes);
  const turns = toTurns(normalizeCalls(items));
  const maxTokens = writeLimit(conversation, target);
  const { format, instruction } = writeOutputFormat(conversation, target);
  const { thinking, effort } = writeThinking(conversation.reasoning, turns, maxTokens, target);
  const isThinking = thinking !== undefined && thinking.type !== 'disabled';
  const instructions = joinInstructions(conversation, instruction);
  const written = writeMessages(turns, target);
  const cached = markBreakpoints(written, conversation, target, instructions !== undefined);
  const request: MessagesRequest = {
    model,
    max_tokens: maxTokens,
    system: cached.areInstructionsMarked
      ? [{ type: 'text', text: instructions, cache_control: cacheMark(conversation) }]
      : instructions,
    messages: cached.messages,
    ...writeTools(conversation, target, isThinking),
    thinking,
    output_config: undefinedIfEmpty(withoutUnset({ effort, format })),
    ...writeSampling(conversation, target, isThinking),
    ...writeSettings(conversation, messagesParameters, target),
    metadata: writeUser(conversation, target),
    cache_control: target.profile.quirks.automatic_caching ? cacheMark(conversation) : undefined,
    stream: isStream,
  };
  return withoutUnset(request);
}

function writeLimit({ maxOutputTokens }: Conversation, { profile, notes }: EncodeTarget): number {
  const most = profile.quirks.max_output_tokens;
  const wanted = maxOutputTokens ?? most ?? defaultMaxTokens;
  const limit = Math.min(wanted, most ?? wanted);
  if (limit !== wanted) notes.approximate(`the limit of output tokens as ${limit}`);
  return limit;
}

function joinInstructions({ instructions }: Conversation, instruction: string | undefined): string | undefined {
  const texts = instruction === undefined ? instructions : [...instructions, instruction];
  const filled = texts.filter((text) => text.trim() !== '');
  return filled.length === 0 ? undefined : filled.join('\n\n');
}

function writeSampling({ sampling }: Conversation, target: EncodeTarget, isThinking: boolean): MessagesRequest {
  const { temperature, topP, topK } = sampling;
  if (isThinking) return writeThinkingSampling(sampling, target);
  const isWarm = temperature !== undefined && temperature !== 1;
  // Newer models accept only one of the two; both default to 1.
  if (isWarm && topP !== undefined && topP !== 1) target.notes.drop('top_p');
  if (temperature !== undefined && temperature > messagesBounds.temperature)
    target.notes.approximate(`temperature as ${messagesBounds.temperature}`);
  const isTopPAlone = topP !== undefined && topP !== 1 && !isWarm;
  return {
    temperature:
      temperature === undefined || isTopPAlone ? undefined : Math.min(temperature, messagesBounds.temperature),
    top_p: isTopPAlone ? topP : undefined,
    top_k: topK,
  };
}

function writeThinkingSampling(
  { temperature, topP, topK }: Conversation['sampling'],
  { notes }: EncodeTarget,
): MessagesRequest {
  const isTopPTaken = topP !== undefined && topP >= messagesBounds.thinkingTopP;
  if (temperature !== undefined && temperature !== 1) notes.drop('temperature');
  if (topP !== undefined && !isTopPTaken) notes.drop('top_p');
  if (topK !== undefined) notes.drop('top_k');
  return { top_p: isTopPTaken && topP !== 1 ? topP : undefined };
}

/** The user id, hashed if it is too long or looks like an email address or phone number. */
function writeUser(
  { user: caller, safetyId, metadata = {} }: Conversation,
  { notes }: EncodeTarget,
): MessagesMetadata | undefined {
  const { user_id: id, ...others } = metadata;
  const named = safetyId ?? caller;
  const user = named ?? filledText(id);
  // Only the user can be sent as metadata.
  if (Object.keys(others).length > 0 || (id !== undefined && id !== user)) notes.drop('metadata');
  if (user === undefined) return undefined;
  const isPlain = user.length <= messagesBounds.userLength && !/@|^\+?[\d\s().-]{7,}$/.test(user);
  return { user_id: isPlain ? user : createHash('sha256').update(user).digest('hex') };
}

/** Requests JSON in the strictest way that the model supports. Source: Anthropic docs, "Structured outputs". */
function writeOutputFormat(conversation: Conversation, target: EncodeTarget): WrittenFormat {
  const { output } = conversation;
  noteDescription(output, target.notes);
  const known = output?.type === 'json_schema' ? target.profile.capabilities.structured_output : 'none';
  const { format, instruction } = writeFormat(conversation, target, known === 'schema' ? known : 'none', 'anthropic');
  return { format: format && { type: 'json_schema', schema: format['schema'] }, instruction };
}
