import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import {
  type Conversation,
  type Effort,
  efforts,
  type ReasoningRequest,
  type Sampling,
} from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { readMetadata, readOutputFormat, readSampling } from '../../../canonical/openai.ts';
import { readEffort } from '../../../canonical/reasoning.ts';
import { asList, count, member } from '../../../wire/members.ts';
import { maybeBoolean, maybeInteger, maybeObject, readTexts, filledText } from '../../../wire/read.ts';
import { ChatHistoryReader } from './read-messages.ts';
import { readToolChoice, readTools } from './read-tools.ts';
import type {
  ChatMessage,
  ChatPart,
  ChatReasoningOptions,
  ChatRequest,
  ChatStreamOptions,
  ChatTool,
} from '../../../wire/chat.ts';

/** Members that are read, and those that no upstream needs because the gateway itself stores and sends the reply. */
const known = new Set(
  (
    'model messages max_completion_tokens max_tokens temperature top_p top_k presence_penalty frequency_penalty seed ' +
    'stop n stream stream_options tools tool_choice parallel_tool_calls functions function_call reasoning_effort ' +
    'reasoning thinking verbosity response_format user safety_identifier prompt_cache_key service_tier store metadata ' +
    'modalities web_search_options logprobs top_logprobs logit_bias'
  ).split(' '),
);

/**
 * Reads a request for a chat completion. Source: OpenAI API reference, "Create chat completion".
 *
 * @throws GatewayError `invalid_request`, `not_supported`
 */
export function decodeRequest(body: ChatRequest, notes: Notes): Conversation {
  const reader = new ChatHistoryReader(notes);
  reader.read(body.messages);
  checkUnsaid(body, notes);
  notes.dropUnknown(body, known);
  const limit = maybeInteger(body.max_tokens, 'max_tokens', 1);
  return {
    instructions: reader.instructions,
    items: reader.items,
    tools: readTools(body, notes),
    toolChoice: readToolChoice(body, notes),
    parallelToolCalls: maybeBoolean(body.parallel_tool_calls, 'parallel_tool_calls'),
    reasoning: readReasoningRequest(body),
    output: readOutputFormat(body.response_format, 'response_format', 'json_schema'),
    sampling: readChatSampling(body, notes),
    maxOutputTokens: maybeInteger(body.max_completion_tokens, 'max_completion_tokens', 1) ?? limit,
    stop: readTexts(body.stop, 'stop').filter((text) => text !== ''),
    verbosity: filledText(body.verbosity, 'verbosity'),
    user: filledText(body.user, 'user'),
    safetyId: filledText(body.safety_identifier, 'safety_identifier'),
    cacheKey: filledText(body.prompt_cache_key, 'prompt_cache_key'),
    serviceTier: filledText(body.service_tier, 'service_tier'),
    wantsImages: readTexts(body.modalities, 'modalities').includes('image') || undefined,
    areInstructionsCached: reader.areInstructionsCached,
    cacheLife: readCacheLife(body),
    metadata: readMetadata(body.metadata),
    topLogprobs: readTopLogprobs(body),
    candidates: maybeInteger(body.n, 'n', 1, 128) ?? 1,
  };
}

/** Checks members that have no place in a conversation. */
function checkUnsaid(body: ChatRequest, notes: Notes): void {
  maybeBoolean(body.stream, 'stream');
  if (maybeBoolean(body.store, 'store') === true) notes.drop('store');
  const options: ChatStreamOptions | undefined = maybeObject(body.stream_options, 'stream_options');
  maybeBoolean(options?.include_usage, 'stream_options.include_usage');
  if (Object.keys(maybeObject(body.logit_bias, 'logit_bias') ?? {}).length > 0) notes.drop('logit_bias');
  if (readTexts(body.modalities, 'modalities').includes('audio')) {
    throw new GatewayError('not_supported', 'Audio output is not supported.', { param: 'modalities' });
  }
}

function readTopLogprobs({ logprobs, top_logprobs }: ChatRequest): number | undefined {
  const top = maybeInteger(top_logprobs, 'top_logprobs', 0, 20) ?? 0;
  return maybeBoolean(logprobs, 'logprobs') === true || top > 0 ? top : undefined;
}

/** Not part of the format: the mark that OpenRouter and LiteLLM pass on to Anthropic. */
function readCacheLife({ messages, tools }: ChatRequest): '1h' | undefined {
  const said = asList(messages).flatMap((message) => [message, ...asList(member<ChatMessage>(message, 'content'))]);
  const declared = asList(tools).flatMap((tool) => [tool, member<ChatTool>(tool, 'function') ?? null]);
  return [...said, ...declared].some(isLongLived) ? '1h' : undefined;
}

function isLongLived(marked: JsonValue): boolean {
  return member(member<ChatPart>(marked, 'cache_control'), 'ttl') === '1h';
}

/** The official parameter first, then those of OpenRouter (`reasoning`) and DeepSeek (`thinking`). */
function readReasoningRequest(body: ChatRequest): ReasoningRequest | undefined {
  const effort = readEffort(body.reasoning_effort, 'reasoning_effort');
  if (effort !== undefined) return asksFor(effort, undefined);
  const { reasoning, thinking } = body;
  if (isJsonObject(reasoning)) {
    const { effort: asked, enabled, max_tokens: budget, exclude }: ChatReasoningOptions = reasoning;
    return asksFor(asEffort(asked) ?? (enabled === false ? 'none' : undefined), count(budget), exclude !== true);
  }
  if (!isJsonObject(thinking)) return undefined;
  const { type, budget_tokens: budget }: ChatReasoningOptions = thinking;
  return type === 'disabled' ? asksFor('none', undefined) : asksFor(undefined, count(budget));
}

function asEffort(word: JsonValue | undefined): Effort | undefined {
  return efforts.find((effort) => effort === word);
}

/** Clients of this format show all reasoning that they get. */
function asksFor(effort: Effort | undefined, budget: number | undefined, wantsText = true): ReasoningRequest {
  return { effort, budget, wantsText: wantsText && effort !== 'none' };
}

function readChatSampling(body: ChatRequest, notes: Notes): Sampling {
  const { top_k: topK } = body;
  const isCount = typeof topK === 'number' && Number.isInteger(topK) && topK > 0;
  if (!isCount && topK !== undefined && topK !== null) notes.drop('top_k');
  // The seed has 64 bits, as in the reference.
  const seed = maybeInteger(body.seed, 'seed', -(2 ** 63), 2 ** 63);
  return { ...readSampling(body), topK: isCount ? topK : undefined, seed };
}
