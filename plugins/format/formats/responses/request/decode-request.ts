import { GatewayError } from '#core/platform/errors/table.ts';
import type { Conversation, Effort, ReasoningRequest } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { readOutputFormat } from '../../../canonical/openai.ts';
import { readEffort } from '../../../canonical/reasoning.ts';
import { Placed } from '../../../wire/read.ts';
import { readSettings } from '../../contract/settings.ts';
import { responsesParameters } from './parameters.ts';
import { ItemReader, responseNotFound } from './read-items.ts';
import { readToolChoice, ToolReader } from './read-tools.ts';
import type { ResponsesReasoningOptions, ResponsesRequest, ResponsesTextOptions } from '../../../wire/responses.ts';

const tokens = 'message.output_text.logprobs';
/** Values of `include` that every format can serve. Reasoning state is always requested. */
const served = new Set(['reasoning.encrypted_content', tokens]);
/** All other values of `include`. */
const includable = new Set([
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
  const request = new Placed(body);
  refuseStored(request);
  const tools = new ToolReader(notes);
  const reader = new ItemReader(tools, notes);
  tools.add(request);
  const instructions = request.maybeText('instructions') ?? '';
  reader.read(request);
  const toolChoice = readToolChoice(request, tools.tools, notes);
  if (toolChoice?.type !== 'none') tools.refuseOnlyForeign();
  const text = request.maybeObject<ResponsesTextOptions>('text');
  const include = request.texts('include');
  noteUnserved(include, notes);
  request.maybeInteger('max_tool_calls');
  const settings = readSettings(body, responsesParameters, notes);
  return {
    ...settings,
    instructions: instructions === '' ? reader.instructions : [instructions, ...reader.instructions],
    items: reader.items,
    tools: tools.tools,
    toolChoice,
    reasoning: withEffort(readReasoning(request), reader.updated.effort),
    output: text && readOutputFormat(text, 'format'),
    ...('output' in reader.updated && { output: reader.updated.output }),
    areInstructionsCached: reader.areInstructionsCached,
    topLogprobs: settings.topLogprobs ?? (include.includes(tokens) ? 0 : undefined),
  };
}

/** Rejects members that need stored data, without which the conversation would be incomplete. */
function refuseStored(body: Placed<ResponsesRequest>): void {
  for (const name of ['previous_response_id', 'conversation'] as const) {
    if (!body.isMissing(name)) throw responseNotFound(name);
  }
  if (!body.isMissing('prompt')) {
    throw new GatewayError('not_supported', 'Stored prompts are not supported.', { param: 'prompt' });
  }
}

/** Notes values of `include` that no other format has. */
function noteUnserved(wanted: readonly string[], notes: Notes): void {
  for (const entry of wanted) {
    if (!served.has(entry)) notes.drop(includable.has(entry) ? `include ${entry}` : 'include');
  }
}

/** The requested reasoning, with the effort that the history changed. */
function withEffort(asked: ReasoningRequest | undefined, effort: Effort | undefined): ReasoningRequest | undefined {
  if (effort === undefined) return asked;
  return { budget: undefined, wantsText: false, ...asked, effort };
}

function readReasoning(body: Placed<ResponsesRequest>): ReasoningRequest | undefined {
  const reasoning = body.maybeObject<ResponsesReasoningOptions>('reasoning');
  if (reasoning === undefined) return undefined;
  const effort = readEffort(reasoning, 'effort');
  const summary = reasoning.maybeText('summary') ?? reasoning.maybeText('generate_summary');
  return { effort, budget: undefined, wantsText: summary !== undefined && summary !== 'none' };
}
