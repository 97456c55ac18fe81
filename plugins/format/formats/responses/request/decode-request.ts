import { GatewayError } from '#core/platform/errors/table.ts';
import type { Conversation, Effort, ReasoningRequest } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { readOutputFormat } from '../../../canonical/openai.ts';
import { readEffort } from '../../../canonical/reasoning.ts';
import { BodyObject } from '../../../wire/read.ts';
import type { ResponsesReasoningOptions, ResponsesRequest, ResponsesTextOptions } from '../../../wire/responses.ts';
import { readSettings } from '../../contract/settings.ts';
import { responsesParameters } from './parameters.ts';
import { ItemReader, createUnresolvedReferenceError } from './read-items.ts';
import { readToolChoice, ToolReader } from './read-tools.ts';

const logprobsInclude = 'message.output_text.logprobs';
/** Upstreams of any format can serve these. Reasoning state is always requested. */
const supportedIncludes = new Set(['reasoning.encrypted_content', logprobsInclude]);
const vendorIncludes = new Set([
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
  'file_search_call.results',
  'message.input_image.image_url',
  'web_search_call.action.sources',
  'web_search_call.results',
]);

/**
 * Reads a request for a response. Source: OpenAI API reference, "Create a model response".
 *
 * @throws GatewayError `invalid_request`, `not_supported`, `previous_response_not_found`
 */
export function decodeRequest(body: ResponsesRequest, notes: Notes): Conversation {
  const request = new BodyObject(body);
  refuseStoredReferences(request);
  const tools = new ToolReader(notes);
  const reader = new ItemReader(tools, notes);
  tools.add(request);
  const instructions = request.maybeText('instructions') ?? '';
  reader.readInput(request);
  const toolChoice = readToolChoice(request, tools.tools, notes);
  if (toolChoice?.type !== 'none') tools.requireSupportedTool();
  const text = request.maybeObject<ResponsesTextOptions>('text');
  const include = request.texts('include');
  noteUnsupportedIncludes(include, notes);
  request.maybeInteger('max_tool_calls');
  const settings = readSettings(body, responsesParameters, notes);
  return {
    ...settings,
    instructions: instructions === '' ? reader.instructions : [instructions, ...reader.instructions],
    items: reader.items,
    tools: tools.tools,
    toolChoice,
    reasoning: replaceEffort(readReasoning(request), reader.changedSettings.effort),
    output: text && readOutputFormat(text, 'format'),
    ...('output' in reader.changedSettings && { output: reader.changedSettings.output }),
    areInstructionsCached: reader.areInstructionsCached,
    topLogprobs: settings.topLogprobs ?? (include.includes(logprobsInclude) ? 0 : undefined),
  };
}

function refuseStoredReferences(body: BodyObject<ResponsesRequest>): void {
  // The conversation would be incomplete without the stored data.
  for (const name of ['previous_response_id', 'conversation'] as const) {
    if (!body.isMissing(name)) throw createUnresolvedReferenceError(name);
  }
  if (!body.isMissing('prompt')) {
    throw new GatewayError('not_supported', 'Stored prompts are not supported.', { param: 'prompt' });
  }
}

function noteUnsupportedIncludes(includes: readonly string[], notes: Notes): void {
  for (const entry of includes) {
    if (!supportedIncludes.has(entry)) notes.drop(vendorIncludes.has(entry) ? `include ${entry}` : 'include');
  }
}

function replaceEffort(
  reasoning: ReasoningRequest | undefined,
  effort: Effort | undefined,
): ReasoningRequest | undefined {
  if (effort === undefined) return reasoning;
  return { budget: undefined, wantsText: false, ...reasoning, effort };
}

function readReasoning(body: BodyObject<ResponsesRequest>): ReasoningRequest | undefined {
  const reasoning = body.maybeObject<ResponsesReasoningOptions>('reasoning');
  if (reasoning === undefined) return undefined;
  const effort = readEffort(reasoning, 'effort');
  const summary = reasoning.maybeText('summary') ?? reasoning.maybeText('generate_summary');
  return { effort, budget: undefined, wantsText: summary !== undefined && summary !== 'none' };
}
