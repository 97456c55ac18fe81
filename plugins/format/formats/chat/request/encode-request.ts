import type { JsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import { type Conversation, type Effort, efforts, type ReasoningRequest } from '../../../canonical/conversation.ts';
import { instructionText, notePrefill } from '../../../canonical/dialogue.ts';
import { writeEndUser } from '../../../canonical/openai.ts';
import { writeFormat } from '../../../canonical/output-format.ts';
import { requestedEffort, budgetOf, canReason, clampEffort, noteUnservedEffort } from '../../../canonical/reasoning.ts';
import { withoutUnset } from '../../../wire/members.ts';
import { writeSettings } from '../../contract/settings.ts';
import { chatParameters } from './parameters.ts';
import { writeMessages } from './write-messages.ts';
import { writeTools } from './write-tools.ts';
import type { ChatMessage, ChatRequest, ChatResponseFormat, ChatReasoningOptions } from '../../../wire/chat.ts';
import type { Profile } from '#core/config/catalog/profile.ts';
import type { Notes } from '../../../canonical/notes.ts';

/**
 * Encodes a request for a chat completion as OpenAI documents it; adaptations.ts handles vendor differences. Source:
 * OpenAI API reference, "Create chat completion".
 *
 * @throws GatewayError `not_supported`
 */
export function encodeRequest(conversation: Conversation, target: EncodeTarget): JsonObject {
  const { format, instruction } = writeFormat(conversation, target);
  const tools = writeTools(conversation, target);
  // Other vendors support a prefilled answer, or ignore it as OpenAI does.
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
  return withoutUnset(request);
}

function writeInstructions(conversation: Conversation, more: string | undefined): ChatMessage[] {
  const text = instructionText(conversation, more);
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

/**
 * Requests reasoning by the vendor's parameters. Sources: OpenAI, DeepSeek, DashScope and OpenRouter API references.
 * If the client sets no effort or budget, the vendor's default applies.
 */
function writeReasoning({ reasoning }: Conversation, { profile, notes }: EncodeTarget): ChatRequest {
  const wanted = requestedEffort(reasoning);
  if (reasoning === undefined || wanted === undefined) return {};
  const { quirks } = profile;
  if (!canReason(profile)) {
    noteUnservedEffort(wanted, { profile, notes });
    return {};
  }
  const effort = clampEffort(wanted, quirks.efforts);
  switch (quirks.reasoning) {
    case 'thinking':
      return writeSwitch(wanted, effort, quirks.efforts);
    case 'enable_thinking':
      return writeEnabled(wanted, reasoning);
    case 'thinking_off':
      if (wanted !== 'none') notes.drop('reasoning effort');
      return wanted === 'none' ? { thinking: { type: 'disabled' } } : {};
    case 'openrouter':
      return { reasoning: writeOpenRouter(effort, reasoning) };
    default:
      if (effort !== wanted) notes.approximate(`reasoning effort as ${effort}`);
      return { reasoning_effort: effort };
  }
}

/** Only vendors with a known list of efforts accept an effort in addition to the switch. */
function writeSwitch(wanted: Effort, effort: Effort, known: readonly Effort[]): ChatRequest {
  if (wanted === 'none') return { thinking: { type: 'disabled' } };
  const hasEfforts = known.length < efforts.length;
  return { thinking: { type: 'enabled' }, ...(hasEfforts && { reasoning_effort: effort }) };
}

function writeEnabled(wanted: Effort, { budget }: ReasoningRequest): ChatRequest {
  if (wanted === 'none') return { enable_thinking: false };
  return { enable_thinking: true, thinking_budget: budget ?? budgetOf(wanted) };
}

function writeOpenRouter(effort: Effort, { budget, wantsText }: ReasoningRequest): ChatReasoningOptions {
  const amount = budget === undefined || budget === 0 ? { effort } : { max_tokens: budget };
  return { ...amount, ...(!wantsText && effort !== 'none' && { exclude: true }) };
}

/**
 * True for models that reject tools on their Chat endpoint while they reason, which is their default. Such requests go to
 * the Responses endpoint if the upstream has it. Source: openai-openapi#541.
 */
export function refusesToolsWithReasoning({ capabilities, quirks }: Profile): boolean {
  return quirks.responses_for_tools && capabilities.tools && capabilities.reasoning;
}

/** Most requests for both need the tools more than the reasoning. */
export function noteReasoningDropped(notes: Notes): void {
  notes.drop('reasoning: not supported together with tools');
}
