import { parseObject } from '#core/platform/json.ts';
import type { Conversation, Effort, OutputFormat, ReasoningRequest } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { readEffort } from '../../../canonical/reasoning.ts';
import type {
  MessagesOutputConfig,
  MessagesOutputFormat,
  MessagesRequest,
  MessagesThinking,
} from '../../../wire/messages.ts';
import { invalidValue, BodyObject } from '../../../wire/read.ts';
import { readSettings } from '../../contract/settings.ts';
import { messagesBounds, messagesParameters } from './parameters.ts';
import { MessagesHistoryReader } from './read-messages.ts';
import { readToolChoice, readTools } from './read-tools.ts';
import { readEffectiveTools } from './tool-changes.ts';

/**
 * Reads a request for a message. Source: Anthropic API reference, "Create a Message".
 *
 * @throws GatewayError `invalid_request`, `not_supported`
 */
export function decodeRequest(body: MessagesRequest, notes: Notes): Conversation {
  const request = new BodyObject(body);
  const reader = new MessagesHistoryReader(notes);
  reader.readSystem(request, 'system');
  reader.readMessages(request);
  const tools = readTools(readEffectiveTools(body, notes), notes);
  const output = request.maybeObject<MessagesOutputConfig>('output_config');
  const settings = readSettings(body, messagesParameters, notes);
  return {
    ...settings,
    instructions: reader.instructions,
    items: reader.items,
    tools,
    ...readToolChoice(request, tools, notes),
    reasoning: readReasoning(request, output && readEffort(output, 'effort'), notes),
    output:
      readFormat(output?.maybeObject<MessagesOutputFormat>('format')) ??
      readFormat(request.maybeObject<MessagesOutputFormat>('output_format')),
    cacheKey: settings.user && readUserSession(settings.user),
    isCacheKeyImplied: true,
  };
}

function readReasoning(
  body: BodyObject<MessagesRequest>,
  effort: Effort | undefined,
  notes: Notes,
): ReasoningRequest | undefined {
  const thinking = body.maybeObject<MessagesThinking>('thinking');
  // An effort counts even if `thinking` is missing.
  if (thinking === undefined) return effort && { effort, budget: undefined, wantsText: false };
  const wantsText = thinking.maybeText('display') !== 'omitted';
  const budget = thinking.maybeInteger('budget_tokens', messagesBounds.thinkingTokens);
  switch (thinking.text('type')) {
    case 'disabled':
      return { effort: 'none', budget: undefined, wantsText: false };
    case 'enabled':
      if (budget === undefined)
        throw invalidValue(thinking.pathOf('budget_tokens'), `an integer from ${messagesBounds.thinkingTokens}`);
      return { effort, budget, wantsText };
    case 'between_tools':
      notes.approximate('thinking between_tools as adaptive');
      return { effort, budget: undefined, wantsText };
    case 'adaptive':
      return { effort, budget: undefined, wantsText };
    default:
      throw invalidValue(thinking.pathOf('type'), 'enabled, adaptive, between_tools or disabled');
  }
}

function readFormat(format: BodyObject<MessagesOutputFormat> | undefined): OutputFormat | undefined {
  if (format === undefined) return undefined;
  if (format.value.type !== 'json_schema') throw invalidValue(format.pathOf('type'), 'json_schema');
  const { value: schema } = format.object('schema');
  return { type: 'json_schema', name: undefined, description: undefined, schema, strict: 'fitting' };
}

/** Observed: Claude Code puts its session into the user id, as JSON or, in older versions, as a suffix. */
function readUserSession(user: string): string | undefined {
  const session = parseObject(user)?.['session_id'];
  return typeof session === 'string' && session !== '' ? session : /_session_([\w-]+)$/.exec(user)?.[1];
}
