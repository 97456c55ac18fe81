import type { JsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { Conversation } from '../../../canonical/conversation.ts';
import { instructionText, notePrefill } from '../../../canonical/dialogue.ts';
import { writeEndUser, isPlainMetadata, shortenId } from '../../../canonical/openai.ts';
import { writeFormat } from '../../../canonical/output-format.ts';
import { canReason, clampEffort, noteUnservedEffort, requestedEffort } from '../../../canonical/reasoning.ts';
import { noteCutting } from '../../../canonical/stop-cutter.ts';
import { withoutUnset } from '../../../wire/members.ts';
import { minOutputTokens } from './parameters.ts';
import { writeItems } from './write-items.ts';
import { writeTools } from './write-tools.ts';
import type {
  ResponsesItem,
  ResponsesReasoningOptions,
  ResponsesRequest,
  ResponsesTextOptions,
} from '../../../wire/responses.ts';

const tiers = new Set(['auto', 'default', 'flex', 'scale', 'priority']);

/**
 * Writes a request for a response that the upstream does not store. Source: OpenAI API reference, "Create a model
 * response".
 *
 * @throws GatewayError `not_supported`
 */
export function encodeRequest(conversation: Conversation, target: EncodeTarget): JsonObject {
  const { format, instruction } = writeFormat(conversation, target);
  const items = writeItems(conversation.items, target);
  if (instruction !== undefined) items.unshift(developerMessage(instruction));
  noteUnsaid(conversation, target);
  const { topLogprobs } = conversation;
  const request: ResponsesRequest = {
    model: target.model,
    instructions: instructionText(conversation) || undefined,
    input: items,
    ...writeTools(conversation, target),
    reasoning: writeReasoning(conversation, target),
    text: writeText(conversation, format),
    max_output_tokens: writeLimit(conversation, target),
    temperature: conversation.sampling.temperature,
    top_p: conversation.sampling.topP,
    ...writeEndUser(conversation, target),
    prompt_cache_key: conversation.cacheKey && shortenId(conversation.cacheKey),
    service_tier: writeTier(conversation, target),
    metadata: writeMetadata(conversation, target),
    include: ['reasoning.encrypted_content', ...(topLogprobs === undefined ? [] : ['message.output_text.logprobs'])],
    top_logprobs: topLogprobs || undefined,
    store: false,
    stream: target.isStream,
  };
  return withoutUnset(request);
}

function developerMessage(text: string): ResponsesItem {
  return { type: 'message', role: 'developer', content: [{ type: 'input_text', text }] };
}

function writeReasoning(
  { reasoning }: Conversation,
  { profile, notes }: EncodeTarget,
): ResponsesReasoningOptions | undefined {
  if (reasoning === undefined) return undefined;
  const wanted = requestedEffort(reasoning);
  if (!canReason(profile)) {
    if (wanted !== undefined) noteUnservedEffort(wanted, { profile, notes });
    return undefined;
  }
  const effort = wanted && clampEffort(wanted, profile.quirks.efforts);
  if (effort !== wanted) notes.approximate(`reasoning effort as ${effort}`);
  if (effort === undefined && !reasoning.wantsText) return undefined;
  return { ...(effort !== undefined && { effort }), ...(reasoning.wantsText && { summary: 'auto' }) };
}

function writeText({ verbosity }: Conversation, format: JsonObject | undefined): ResponsesTextOptions | undefined {
  if (verbosity === undefined && format === undefined) return undefined;
  return { ...(format !== undefined && { format }), ...(verbosity !== undefined && { verbosity }) };
}

function writeLimit({ maxOutputTokens }: Conversation, { notes }: EncodeTarget): number | undefined {
  if (maxOutputTokens === undefined) return undefined;
  const limit = Math.max(minOutputTokens, maxOutputTokens);
  if (limit !== maxOutputTokens) notes.approximate(`the limit of output tokens as ${limit}`);
  return limit;
}

function writeTier({ serviceTier }: Conversation, { notes }: EncodeTarget): string | undefined {
  if (serviceTier === undefined || tiers.has(serviceTier)) return serviceTier;
  notes.drop('service_tier');
  return undefined;
}

function writeMetadata({ metadata }: Conversation, { notes }: EncodeTarget): JsonObject | undefined {
  if (metadata === undefined || isPlainMetadata(metadata)) return metadata;
  notes.drop('metadata');
  return undefined;
}

/** Notes what the format cannot express. */
function noteUnsaid({ stop, sampling, items, wantsImages }: Conversation, { notes }: EncodeTarget): void {
  if (wantsImages === true) notes.drop('image output');
  notePrefill(items, notes);
  if (stop.length > 0) noteCutting(notes);
  const unsaid = {
    top_k: sampling.topK,
    presence_penalty: sampling.presencePenalty || undefined,
    frequency_penalty: sampling.frequencyPenalty || undefined,
    seed: sampling.seed,
  };
  notes.dropSet(unsaid);
}
