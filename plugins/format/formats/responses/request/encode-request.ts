import type { JsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { Conversation } from '../../../canonical/conversation.ts';
import { joinAllInstructions, notePrefill } from '../../../canonical/dialogue.ts';
import { writeEndUser } from '../../../canonical/openai.ts';
import { writeFormat } from '../../../canonical/output-format.ts';
import { canReason, clampEffort, noteUnsupportedEffort, readRequestedEffort } from '../../../canonical/reasoning.ts';
import { withoutUndefined } from '../../../wire/members.ts';
import type { ResponsesItem, ResponsesReasoningOptions, ResponsesRequest } from '../../../wire/responses.ts';
import { writeSettings } from '../../contract/settings.ts';
import { responsesParameters } from './parameters.ts';
import { writeItems } from './write-items.ts';
import { writeTools } from './write-tools.ts';

/**
 * Writes a request for a response that the upstream does not store. Source: OpenAI API reference, "Create a model
 * response".
 *
 * @throws GatewayError `not_supported`
 */
export function encodeRequest(conversation: Conversation, target: EncodeTarget): JsonObject {
  const { format, instruction } = writeFormat(conversation, target);
  const items = writeItems(conversation.items, target);
  if (instruction !== undefined) items.unshift(writeDeveloperMessage(instruction));
  notePrefill(conversation.items, target.notes);
  const { topLogprobs } = conversation;
  const request: ResponsesRequest = {
    model: target.model,
    instructions: joinAllInstructions(conversation) || undefined,
    input: items,
    ...writeTools(conversation, target),
    reasoning: writeReasoning(conversation, target),
    ...writeSettings(conversation, responsesParameters, target, format && { text: { format } }),
    ...writeEndUser(conversation, target),
    include: ['reasoning.encrypted_content', ...(topLogprobs === undefined ? [] : ['message.output_text.logprobs'])],
    top_logprobs: topLogprobs || undefined,
    store: false,
    stream: target.isStream,
  };
  return withoutUndefined(request);
}

function writeDeveloperMessage(text: string): ResponsesItem {
  return { type: 'message', role: 'developer', content: [{ type: 'input_text', text }] };
}

function writeReasoning(
  { reasoning }: Conversation,
  { profile, notes }: EncodeTarget,
): ResponsesReasoningOptions | undefined {
  if (reasoning === undefined) return undefined;
  const clientEffort = readRequestedEffort(reasoning);
  if (!canReason(profile)) {
    if (clientEffort !== undefined) noteUnsupportedEffort(clientEffort, { profile, notes });
    return undefined;
  }
  const effort = clientEffort && clampEffort(clientEffort, profile.quirks.efforts);
  if (effort !== clientEffort) notes.approximate(`reasoning effort as ${effort}`);
  if (effort === undefined && !reasoning.wantsText) return undefined;
  return { ...(effort !== undefined && { effort }), ...(reasoning.wantsText && { summary: 'auto' }) };
}
