import { GatewayError } from '#core/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import {
  type Conversation,
  type Effort,
  efforts,
  type OutputFormat,
  type ReasoningRequest,
  type Sampling,
} from '../canonical/conversation.ts';
import { readMetadata } from '../canonical/metadata.ts';
import type { Notes } from '../canonical/notes.ts';
import {
  invalid,
  maybeBoolean,
  maybeInteger,
  maybeNumber,
  maybeObject,
  maybeText,
  readObject,
  readText,
  readTexts,
} from '../canonical/read.ts';
import { count, member } from '../request/members.ts';
import { ChatHistoryReader } from './read-messages.ts';
import { readToolChoice, readTools } from './read-tools.ts';

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
export function decodeRequest(body: JsonObject, notes: Notes): Conversation {
  const reader = new ChatHistoryReader(notes);
  reader.read(body['messages']);
  checkUnsaid(body, notes);
  notes.dropUnknown(body, known);
  const limit = maybeInteger(body['max_tokens'], 'max_tokens', 1);
  return {
    instructions: reader.instructions,
    items: reader.items,
    tools: readTools(body, notes),
    toolChoice: readToolChoice(body, notes),
    parallelToolCalls: maybeBoolean(body['parallel_tool_calls'], 'parallel_tool_calls'),
    reasoning: readReasoningRequest(body),
    output: readOutput(body['response_format']),
    sampling: readSampling(body, notes),
    maxOutputTokens: maybeInteger(body['max_completion_tokens'], 'max_completion_tokens', 1) ?? limit,
    stop: readTexts(body['stop'], 'stop').filter((text) => text !== ''),
    verbosity: readWord(body, 'verbosity'),
    user: readWord(body, 'safety_identifier') ?? readWord(body, 'user'),
    cacheKey: readWord(body, 'prompt_cache_key'),
    serviceTier: readWord(body, 'service_tier'),
    metadata: readMetadata(body['metadata']),
    candidates: maybeInteger(body['n'], 'n', 1, 128) ?? 1,
  };
}

/** Checks members that have no place in a conversation. */
function checkUnsaid(body: JsonObject, notes: Notes): void {
  maybeBoolean(body['stream'], 'stream');
  maybeBoolean(body['store'], 'store');
  maybeBoolean(
    maybeObject(body['stream_options'], 'stream_options')?.['include_usage'],
    'stream_options.include_usage',
  );
  if (maybeBoolean(body['logprobs'], 'logprobs') === true) notes.drop('logprobs');
  if ((maybeInteger(body['top_logprobs'], 'top_logprobs', 0, 20) ?? 0) > 0) notes.drop('top_logprobs');
  if (Object.keys(maybeObject(body['logit_bias'], 'logit_bias') ?? {}).length > 0) notes.drop('logit_bias');
  if (readTexts(body['modalities'], 'modalities').includes('audio')) {
    throw new GatewayError('not_supported', 'Audio answers are not supported.', { param: 'modalities' });
  }
}

/** The official word for it first, then those of OpenRouter (`reasoning`) and DeepSeek (`thinking`). */
function readReasoningRequest(body: JsonObject): ReasoningRequest | undefined {
  const word = maybeText(body['reasoning_effort'], 'reasoning_effort');
  const effort = asEffort(word);
  if (word !== undefined && effort === undefined) throw invalid('reasoning_effort', `one of ${efforts.join(', ')}`);
  if (effort !== undefined) return asksFor(effort, undefined);
  const { reasoning, thinking } = body;
  if (isJsonObject(reasoning)) {
    const asked = asEffort(reasoning['effort']) ?? (reasoning['enabled'] === false ? 'none' : undefined);
    return asksFor(asked, count(reasoning['max_tokens']), reasoning['exclude'] !== true);
  }
  if (member(thinking, 'type') === 'disabled') return asksFor('none', undefined);
  return isJsonObject(thinking) ? asksFor(undefined, count(thinking['budget_tokens'])) : undefined;
}

function asEffort(word: JsonValue | undefined): Effort | undefined {
  return efforts.find((effort) => effort === word);
}

/** Clients of this format show whatever they get of reasoning. */
function asksFor(effort: Effort | undefined, budget: number | undefined, wantsText = true): ReasoningRequest {
  return { effort, budget, wantsText: wantsText && effort !== 'none' };
}

function readOutput(value: JsonValue | undefined): OutputFormat | undefined {
  const format = maybeObject(value, 'response_format');
  if (format === undefined) return undefined;
  const type = readText(format['type'], 'response_format.type');
  if (type === 'text') return undefined;
  if (type === 'json_object') return { type };
  if (type !== 'json_schema') throw invalid('response_format.type', 'text, json_object or json_schema');
  const path = 'response_format.json_schema';
  const wanted = readObject(format['json_schema'], path);
  return {
    type,
    name: maybeText(wanted['name'], `${path}.name`),
    description: maybeText(wanted['description'], `${path}.description`),
    schema: maybeObject(wanted['schema'], `${path}.schema`) ?? {},
    strict: maybeBoolean(wanted['strict'], `${path}.strict`),
  };
}

function readSampling(body: JsonObject, notes: Notes): Sampling {
  const { top_k: topK } = body;
  const isCount = typeof topK === 'number' && Number.isInteger(topK) && topK > 0;
  if (!isCount && topK !== undefined && topK !== null) notes.drop('top_k');
  return {
    temperature: maybeNumber(body['temperature'], 'temperature', 0, 2),
    topP: maybeNumber(body['top_p'], 'top_p', 0, 1),
    topK: isCount ? topK : undefined,
    presencePenalty: maybeNumber(body['presence_penalty'], 'presence_penalty', -2, 2),
    frequencyPenalty: maybeNumber(body['frequency_penalty'], 'frequency_penalty', -2, 2),
    // 64 bits, as in the reference.
    seed: maybeInteger(body['seed'], 'seed', -(2 ** 63), 2 ** 63),
  };
}

/** A string; undefined when it is empty. */
function readWord(body: JsonObject, name: string): string | undefined {
  return maybeText(body[name], name) || undefined;
}
