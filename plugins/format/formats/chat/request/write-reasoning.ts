import type { Profile } from '#core/config/catalog/profile.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import { type Conversation, type Effort, efforts, type ReasoningRequest } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { budgetOf, clampEffort, requestedEffort } from '../../../canonical/reasoning.ts';
import type { ChatReasoningOptions, ChatRequest } from '../../../wire/chat.ts';

/**
 * Requests reasoning by the vendor's parameters. Sources: OpenAI, DeepSeek, DashScope and OpenRouter API references.
 * Without an effort or budget of the client, the vendor's default applies.
 */
export function writeReasoning({ reasoning }: Conversation, { profile, notes }: EncodeTarget): ChatRequest {
  const wanted = requestedEffort(reasoning);
  if (reasoning === undefined || wanted === undefined) return {};
  const { quirks, capabilities } = profile;
  if (!capabilities.reasoning || quirks.reasoning === 'none') {
    if (wanted !== 'none') notes.drop('reasoning');
    return {};
  }
  const effort = clampEffort(wanted, quirks.efforts);
  switch (quirks.reasoning) {
    case 'thinking':
      return writeThinking(wanted, effort, quirks.efforts);
    case 'enable_thinking':
      return writeEnabled(wanted, reasoning);
    case 'openrouter':
      return { reasoning: writeOpenRouter(effort, reasoning) };
    default:
      if (effort !== wanted) notes.approximate(`reasoning effort as ${effort}`);
      return { reasoning_effort: effort };
  }
}

/** Only vendors with a known list of efforts accept one in addition to the switch. */
function writeThinking(wanted: Effort, effort: Effort, known: readonly Effort[]): ChatRequest {
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
 * True for models that refuse tools on their Chat endpoint while they reason, which they do by default. Upstreams with
 * a Responses endpoint are asked there. Source: openai-openapi#541.
 */
export function refusesToolsWithReasoning({ capabilities, quirks }: Profile): boolean {
  return quirks.responses_for_tools && capabilities.tools && capabilities.reasoning;
}

/** Most requests for both need the tools more than the reasoning. */
export function noteReasoningDropped(notes: Notes): void {
  notes.drop('reasoning: not supported together with tools');
}
