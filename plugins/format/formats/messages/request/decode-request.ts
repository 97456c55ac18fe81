import { type JsonValue, parseObject } from '#core/platform/json.ts';
import type { Conversation, Effort, OutputFormat, ReasoningRequest } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { readEffort } from '../../../canonical/reasoning.ts';
import {
  invalid,
  isMissing,
  maybeInteger,
  maybeList,
  maybeNumber,
  maybeObject,
  maybeText,
  readObject,
  readText,
  filledText,
} from '../../../wire/read.ts';
import { messagesBounds } from './parameters.ts';
import { MessagesHistoryReader } from './read-messages.ts';
import { readToolChoice, readTools } from './read-tools.ts';
import { toolsInForce } from './tool-changes.ts';
import type {
  MessagesMetadata,
  MessagesOutputConfig,
  MessagesOutputFormat,
  MessagesRequest,
  MessagesThinking,
} from '../../../wire/messages.ts';

/** Members that are read, or that only control prompt caching. */
const known = new Set(
  (
    'model messages system max_tokens stop_sequences temperature top_p top_k stream tools tool_choice thinking ' +
    'output_config output_format metadata service_tier cache_control'
  ).split(' '),
);
const knownOfOutput = new Set(['effort', 'format']);

/**
 * Reads a request for a message. Source: Anthropic API reference, "Create a Message".
 *
 * @throws GatewayError `invalid_request`, `not_supported`
 */
export function decodeRequest(body: MessagesRequest, notes: Notes): Conversation {
  const reader = new MessagesHistoryReader(notes);
  reader.readSystem(body.system, 'system');
  reader.readMessages(body.messages);
  const tools = readTools(toolsInForce(body, notes), notes);
  const output: MessagesOutputConfig = maybeObject(body.output_config, 'output_config') ?? {};
  for (const [name, value] of Object.entries(output)) {
    if (!knownOfOutput.has(name) && !isMissing(value)) notes.drop(`output_config.${name}`);
  }
  const user = readUser(body);
  notes.dropUnknown(body, known);
  return {
    instructions: reader.instructions,
    items: reader.items,
    tools,
    ...readToolChoice(body, tools, notes),
    reasoning: readReasoning(body.thinking, readEffort(output.effort, 'output_config.effort'), notes),
    output: readFormat(output.format, 'output_config.format') ?? readFormat(body.output_format, 'output_format'),
    sampling: readSampling(body),
    maxOutputTokens: maybeInteger(body.max_tokens, 'max_tokens', 1),
    stop: readStop(body.stop_sequences),
    verbosity: undefined,
    user,
    cacheKey: user === undefined ? undefined : readSession(user),
    isCacheKeyImplied: true,
    serviceTier: readTier(body.service_tier),
    candidates: 1,
  };
}

/** An effort without `thinking` counts too. */
function readReasoning(
  value: JsonValue | undefined,
  effort: Effort | undefined,
  notes: Notes,
): ReasoningRequest | undefined {
  const thinking: MessagesThinking | undefined = maybeObject(value, 'thinking');
  if (thinking === undefined) return effort && { effort, budget: undefined, wantsText: false };
  const wantsText = maybeText(thinking.display, 'thinking.display') !== 'omitted';
  const budget = maybeInteger(thinking.budget_tokens, 'thinking.budget_tokens', messagesBounds.thinkingTokens);
  switch (readText(thinking.type, 'thinking.type')) {
    case 'disabled':
      return { effort: 'none', budget: undefined, wantsText: false };
    case 'enabled':
      if (budget === undefined)
        throw invalid('thinking.budget_tokens', `an integer from ${messagesBounds.thinkingTokens}`);
      return { effort, budget, wantsText };
    case 'between_tools':
      notes.approximate('thinking between_tools as adaptive');
      return { effort, budget: undefined, wantsText };
    case 'adaptive':
      return { effort, budget: undefined, wantsText };
    default:
      throw invalid('thinking.type', 'enabled, adaptive, between_tools or disabled');
  }
}

function readFormat(value: JsonValue | undefined, path: string): OutputFormat | undefined {
  const format: MessagesOutputFormat | undefined = maybeObject(value, path);
  if (format === undefined) return undefined;
  if (format.type !== 'json_schema') throw invalid(`${path}.type`, 'json_schema');
  return {
    type: 'json_schema',
    name: undefined,
    description: undefined,
    schema: readObject(format.schema, `${path}.schema`),
    strict: 'fitting',
  };
}

function readSampling(body: MessagesRequest): Conversation['sampling'] {
  return {
    temperature: maybeNumber(body.temperature, 'temperature', 0, 1),
    topP: maybeNumber(body.top_p, 'top_p', 0, 1),
    topK: maybeInteger(body.top_k, 'top_k'),
  };
}

function readStop(value: JsonValue | undefined): string[] {
  return maybeList(value, 'stop_sequences')
    .map((entry, index) => readText(entry, `stop_sequences[${index}]`))
    .filter((sequence) => sequence !== '');
}

function readUser(body: MessagesRequest): string | undefined {
  const metadata: MessagesMetadata = maybeObject(body.metadata, 'metadata') ?? {};
  return filledText(metadata.user_id, 'metadata.user_id');
}

/** Claude Code puts a session into the user id: as JSON, in older versions at the end. Observed. */
function readSession(user: string): string | undefined {
  const session = parseObject(user)?.['session_id'];
  return typeof session === 'string' && session !== '' ? session : /_session_([\w-]+)$/.exec(user)?.[1];
}

/** By the name that all formats share. */
function readTier(value: JsonValue | undefined): string | undefined {
  const tier = filledText(value, 'service_tier');
  return tier === 'standard_only' ? 'default' : tier;
}
