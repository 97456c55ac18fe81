import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonValue } from '#core/platform/json.ts';
import type { Conversation, Effort, ReasoningRequest } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { readMetadata, readOutputFormat, readSampling } from '../../../canonical/openai.ts';
import { readEffort } from '../../../canonical/reasoning.ts';
import {
  isMissing,
  maybeBoolean,
  maybeInteger,
  maybeObject,
  maybeText,
  readTexts,
  filledText,
} from '../../../wire/read.ts';
import { ItemReader, responseNotFound } from './read-items.ts';
import { readToolChoice, ToolReader } from './read-tools.ts';
import type { ResponsesReasoningOptions, ResponsesRequest, ResponsesTextOptions } from '../../../wire/responses.ts';

/** Members that are read, and those that no upstream needs because the gateway itself stores and sends the reply. */
const known = new Set(
  (
    'model input instructions tools tool_choice parallel_tool_calls max_output_tokens temperature top_p ' +
    'presence_penalty frequency_penalty reasoning text stream stream_options store include previous_response_id ' +
    'conversation background prompt user safety_identifier prompt_cache_key service_tier metadata client_metadata ' +
    'truncation top_logprobs'
  ).split(' '),
);
const tokens = 'message.output_text.logprobs';
/** Values of `include` that every format is asked for: reasoning state always. */
const served = new Set(['reasoning.encrypted_content', tokens]);
/** The others. */
const includable = new Set([
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
  'file_search_call.results',
  'message.input_image.image_url',
  'web_search_call.action.sources',
  'web_search_call.results',
]);
const knownOfReasoning = new Set(['effort', 'summary', 'generate_summary']);

/**
 * Reads a request for a response. Source: OpenAI API reference, "Create a model response".
 *
 * @throws GatewayError `invalid_request`, `not_supported`, `previous_response_not_found`
 */
export function decodeRequest(body: ResponsesRequest, notes: Notes): Conversation {
  refuseStored(body);
  checkRepeated(body, notes);
  const tools = new ToolReader(notes);
  const reader = new ItemReader(tools, notes);
  tools.add(body.tools, 'tools');
  const instructions = maybeText(body.instructions, 'instructions') ?? '';
  reader.read(body.input);
  const toolChoice = readToolChoice(body.tool_choice, tools.tools, notes);
  if (toolChoice?.type !== 'none') tools.refuseOnlyForeign();
  const text: ResponsesTextOptions = maybeObject(body.text, 'text') ?? {};
  notes.dropUnknown(body, known);
  return {
    instructions: instructions === '' ? reader.instructions : [instructions, ...reader.instructions],
    items: reader.items,
    tools: tools.tools,
    toolChoice,
    parallelToolCalls: maybeBoolean(body.parallel_tool_calls, 'parallel_tool_calls'),
    reasoning: withEffort(readReasoning(body.reasoning, notes), reader.updated.effort),
    output: readOutputFormat(text.format, 'text.format'),
    ...('output' in reader.updated && { output: reader.updated.output }),
    sampling: readSampling(body),
    maxOutputTokens: maybeInteger(body.max_output_tokens, 'max_output_tokens', 1),
    stop: [],
    verbosity: maybeText(text.verbosity, 'text.verbosity'),
    user: filledText(body.user, 'user'),
    safetyId: filledText(body.safety_identifier, 'safety_identifier'),
    cacheKey: filledText(body.prompt_cache_key, 'prompt_cache_key'),
    serviceTier: filledText(body.service_tier, 'service_tier'),
    areInstructionsCached: reader.areInstructionsCached,
    metadata: readMetadata(body.metadata),
    topLogprobs: readTopLogprobs(body),
    candidates: 1,
  };
}

/** Refuses members that need stored data: without it the conversation would be incomplete. */
function refuseStored(body: ResponsesRequest): void {
  for (const name of ['previous_response_id', 'conversation'] as const) {
    if (!isMissing(body[name])) throw responseNotFound(name);
  }
  if (!isMissing(body.prompt)) {
    throw new GatewayError('not_supported', 'Stored prompts are not supported.', { param: 'prompt' });
  }
}

/** Checks members that the reply repeats to the client. */
function checkRepeated(body: ResponsesRequest, notes: Notes): void {
  maybeBoolean(body.store, 'store');
  noteUnserved(readTexts(body.include, 'include'), notes);
  maybeInteger(body.max_tool_calls, 'max_tool_calls');
  if (maybeText(body.truncation, 'truncation') === 'auto') notes.drop('truncation');
}

function readTopLogprobs({ include, top_logprobs }: ResponsesRequest): number | undefined {
  const count = maybeInteger(top_logprobs, 'top_logprobs', 0, 20) ?? 0;
  return readTexts(include, 'include').includes(tokens) || count > 0 ? count : undefined;
}

/** Notes values of `include` that no other format has. */
function noteUnserved(wanted: readonly string[], notes: Notes): void {
  for (const entry of wanted) {
    if (!served.has(entry)) notes.drop(includable.has(entry) ? `include ${entry}` : 'include');
  }
}

/** The request’s wishes, with the effort that its history has changed. */
function withEffort(asked: ReasoningRequest | undefined, effort: Effort | undefined): ReasoningRequest | undefined {
  if (effort === undefined) return asked;
  return { budget: undefined, wantsText: false, ...asked, effort };
}

function readReasoning(value: JsonValue | undefined, notes: Notes): ReasoningRequest | undefined {
  const reasoning: ResponsesReasoningOptions | undefined = maybeObject(value, 'reasoning');
  if (reasoning === undefined) return undefined;
  const effort = readEffort(reasoning.effort, 'reasoning.effort');
  const summary =
    maybeText(reasoning.summary, 'reasoning.summary') ??
    maybeText(reasoning.generate_summary, 'reasoning.generate_summary');
  for (const [name, entry] of Object.entries(reasoning)) {
    if (!knownOfReasoning.has(name) && !isMissing(entry)) notes.drop(`reasoning.${name}`);
  }
  return { effort, budget: undefined, wantsText: summary !== undefined && summary !== 'none' };
}
