import { type JsonValue, parseObject } from '#core/platform/json.ts';
import type { Conversation, Effort, OutputFormat, ReasoningRequest } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { readEffort } from '../../../canonical/reasoning.ts';
import { invalid, maybeInteger, maybeObject, maybeText, readObject, readText } from '../../../wire/read.ts';
import { readSettings } from '../../contract/settings.ts';
import { messagesBounds, messagesParameters } from './parameters.ts';
import { MessagesHistoryReader } from './read-messages.ts';
import { readToolChoice, readTools } from './read-tools.ts';
import { toolsInForce } from './tool-changes.ts';
import type {
  MessagesOutputConfig,
  MessagesOutputFormat,
  MessagesRequest,
  MessagesThinking,
} from '../../../wire/messages.ts';

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
  const settings = readSettings(body, messagesParameters, notes);
  return {
    ...settings,
    instructions: reader.instructions,
    items: reader.items,
    tools,
    ...readToolChoice(body, tools, notes),
    reasoning: readReasoning(body.thinking, readEffort(output.effort, 'output_config.effort'), notes),
    output: readFormat(output.format, 'output_config.format') ?? readFormat(body.output_format, 'output_format'),
    cacheKey: settings.user && readSession(settings.user),
    isCacheKeyImplied: true,
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

/** Claude Code puts a session into the user id: as JSON, in older versions at the end. Observed. */
function readSession(user: string): string | undefined {
  const session = parseObject(user)?.['session_id'];
  return typeof session === 'string' && session !== '' ? session : /_session_([\w-]+)$/.exec(user)?.[1];
}
