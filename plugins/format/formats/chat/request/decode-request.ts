import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { type Conversation, type Effort, efforts, type ReasoningRequest } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { readOutputFormat } from '../../../canonical/openai.ts';
import { readEffort } from '../../../canonical/reasoning.ts';
import type { ChatMessage, ChatPart, ChatReasoningOptions, ChatRequest, ChatTool } from '../../../wire/chat.ts';
import { asList, asCount, readMember } from '../../../wire/members.ts';
import { BodyObject } from '../../../wire/read.ts';
import { readSettings } from '../../contract/settings.ts';
import { chatParameters } from './parameters.ts';
import { ChatHistoryReader } from './read-messages.ts';
import { readToolChoice, readTools } from './read-tools.ts';

/**
 * Reads a request for a chat completion. Source: OpenAI API reference, "Create chat completion".
 *
 * @throws GatewayError `invalid_request`, `not_supported`
 */
export function decodeRequest(body: ChatRequest, notes: Notes): Conversation {
  const request = new BodyObject(body);
  const reader = new ChatHistoryReader(notes);
  reader.read(request);
  return {
    ...readSettings(body, chatParameters, notes),
    instructions: reader.instructions,
    items: reader.items,
    tools: readTools(request, notes),
    toolChoice: readToolChoice(request, notes),
    reasoning: readReasoningRequest(request),
    output: readOutputFormat(request, 'response_format', 'json_schema'),
    areInstructionsCached: reader.areInstructionsCached,
    cacheLifetime: readCacheLifetime(body),
  };
}

/** OpenRouter and LiteLLM add `cache_control` to OpenAI's format and forward it to Anthropic. */
function readCacheLifetime({ messages, tools }: ChatRequest): '1h' | undefined {
  const hasLongLivedMessage = asList(messages).some(
    (message) => isLongLived(message) || asList(readMember<ChatMessage>(message, 'content')).some(isLongLived),
  );
  const hasLongLivedTool = asList(tools).some(
    (tool) => isLongLived(tool) || isLongLived(readMember<ChatTool>(tool, 'function')),
  );
  return hasLongLivedMessage || hasLongLivedTool ? '1h' : undefined;
}

function isLongLived(holder: JsonValue | undefined): boolean {
  return readMember(readMember<ChatPart>(holder, 'cache_control'), 'ttl') === '1h';
}

function readReasoningRequest(body: BodyObject<ChatRequest>): ReasoningRequest | undefined {
  const effort = readEffort(body, 'reasoning_effort');
  if (effort !== undefined) return createReasoningRequest(effort, undefined);
  // OpenRouter's `reasoning`, DeepSeek's `thinking`.
  const { reasoning, thinking } = body.value;
  if (isJsonObject(reasoning)) {
    const { effort: name, enabled, max_tokens: budget, exclude }: ChatReasoningOptions = reasoning;
    return createReasoningRequest(
      findEffort(name) ?? (enabled === false ? 'none' : undefined),
      asCount(budget),
      exclude !== true,
    );
  }
  if (!isJsonObject(thinking)) return undefined;
  const { type, budget_tokens: budget }: ChatReasoningOptions = thinking;
  return type === 'disabled'
    ? createReasoningRequest('none', undefined)
    : createReasoningRequest(undefined, asCount(budget));
}

function findEffort(word: JsonValue | undefined): Effort | undefined {
  return efforts.find((effort) => effort === word);
}

function createReasoningRequest(
  effort: Effort | undefined,
  budget: number | undefined,
  wantsText = true, // clients of this format show all reasoning
): ReasoningRequest {
  return { effort, budget, wantsText: wantsText && effort !== 'none' };
}
