import type { Profile } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import { type Conversation, type Effort, efforts, type ReasoningRequest } from '../../../canonical/conversation.ts';
import { joinAllInstructions, notePrefill } from '../../../canonical/dialogue.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { writeEndUser } from '../../../canonical/openai.ts';
import { writeFormat } from '../../../canonical/output-format.ts';
import {
  readRequestedEffort,
  budgetForEffort,
  canReason,
  clampEffort,
  noteUnsupportedEffort,
} from '../../../canonical/reasoning.ts';
import type { ChatMessage, ChatRequest, ChatResponseFormat, ChatReasoningOptions } from '../../../wire/chat.ts';
import { withoutUndefined } from '../../../wire/members.ts';
import { writeSettings } from '../../contract/settings.ts';
import { chatParameters } from './parameters.ts';
import { writeMessages } from './write-messages.ts';
import { writeTools } from './write-tools.ts';

/**
 * Encodes a request for a chat completion as OpenAI documents it; adaptations.ts then handles differences between vendors. Source: OpenAI
 * API reference, "Create chat completion".
 *
 * @throws GatewayError `not_supported`
 */
export function encodeRequest(conversation: Conversation, target: EncodeTarget): JsonObject {
  const { format, instruction } = writeFormat(conversation, target);
  const tools = writeTools(conversation, target);
  // OpenAI ignores a prefilled reply; other vendors may continue it.
  if (target.profile.quirks.betas) notePrefill(conversation.items, target.notes);
  const request: ChatRequest = {
    model: target.model,
    messages: [...writeInstructions(conversation, instruction), ...writeMessages(conversation.items, target)],
    ...tools,
    ...writeThinking(conversation, target, tools.tools !== undefined),
    response_format: nestFormat(format),
    ...writeSettings(conversation, chatParameters, target),
    top_logprobs: conversation.topLogprobs || undefined,
    ...writeEndUser(conversation, target),
    stream: target.isStream,
  };
  return withoutUndefined(request);
}

function writeInstructions(conversation: Conversation, instruction: string | undefined): ChatMessage[] {
  const text = joinAllInstructions(conversation, instruction);
  return text === '' ? [] : [{ role: 'developer', content: text }];
}

function writeThinking(conversation: Conversation, target: EncodeTarget, hasTools: boolean): ChatRequest {
  if (!hasTools || !refusesToolsWithReasoning(target.profile)) return writeReasoning(conversation, target);
  if (readRequestedEffort(conversation.reasoning) !== 'none') noteReasoningDropped(target.notes);
  return { reasoning_effort: 'none' };
}

function nestFormat(format: ChatResponseFormat | undefined): ChatResponseFormat | undefined {
  if (format?.type !== 'json_schema') return format;
  // Chat nests the schema one level deeper than Responses.
  const { type, ...members } = format;
  return { type, json_schema: members };
}

function writeReasoning({ reasoning }: Conversation, { profile, notes }: EncodeTarget): ChatRequest {
  const wantedEffort = readRequestedEffort(reasoning);
  if (reasoning === undefined || wantedEffort === undefined) return {};
  const { quirks } = profile;
  if (!canReason(profile)) {
    noteUnsupportedEffort(wantedEffort, { profile, notes });
    return {};
  }
  const effort = clampEffort(wantedEffort, quirks.efforts);
  // Sources: OpenAI, DeepSeek, DashScope and OpenRouter API references.
  switch (quirks.reasoning) {
    case 'thinking':
      return writeThinkingSwitch(wantedEffort, effort, quirks.efforts);
    case 'enable_thinking':
      return writeThinkingBudget(wantedEffort, reasoning);
    case 'thinking_off':
      if (wantedEffort !== 'none') notes.drop('reasoning effort');
      return wantedEffort === 'none' ? { thinking: { type: 'disabled' } } : {};
    case 'openrouter':
      return { reasoning: writeOpenRouter(effort, reasoning) };
    default:
      if (effort !== wantedEffort) notes.approximate(`reasoning effort as ${effort}`);
      return { reasoning_effort: effort };
  }
}

function writeThinkingSwitch(wantedEffort: Effort, effort: Effort, routeEfforts: readonly Effort[]): ChatRequest {
  if (wantedEffort === 'none') return { thinking: { type: 'disabled' } };
  // Vendors whose efforts are not configured reject an effort.
  const hasEfforts = routeEfforts.length < efforts.length;
  return { thinking: { type: 'enabled' }, ...(hasEfforts && { reasoning_effort: effort }) };
}

function writeThinkingBudget(wantedEffort: Effort, { budget }: ReasoningRequest): ChatRequest {
  if (wantedEffort === 'none') return { enable_thinking: false };
  return { enable_thinking: true, thinking_budget: budget ?? budgetForEffort(wantedEffort) };
}

function writeOpenRouter(effort: Effort, { budget, wantsText }: ReasoningRequest): ChatReasoningOptions {
  const amount = budget === undefined || budget === 0 ? { effort } : { max_tokens: budget };
  return { ...amount, ...(!wantsText && effort !== 'none' && { exclude: true }) };
}

/**
 * Returns true for models that reject tools on their Chat endpoint while they reason, as they do by default. Such requests go to the
 * Responses endpoint if the upstream has it. Source: openai-openapi#541.
 */
export function refusesToolsWithReasoning({ capabilities, quirks }: Profile): boolean {
  return quirks.responses_for_tools && capabilities.tools && capabilities.reasoning;
}

/** Most requests need the tools more than the reasoning. */
export function noteReasoningDropped(notes: Notes): void {
  notes.drop('reasoning: not supported together with tools');
}
