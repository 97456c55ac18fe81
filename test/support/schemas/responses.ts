/**
 * JSON schemas (draft-07) of what a Responses client receives. Sources: OpenAI API reference, "The response object" and "Responses
 * streaming events"; Open Responses specification for required properties.
 */
import { shape } from './shape.ts';

const text = { type: 'string' } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const count = { type: 'integer', minimum: 0 } as const;
const countOrNull = { type: ['integer', 'null'], minimum: 0 } as const;
const object = { type: 'object' } as const;

const is = (value: string): object => ({ const: value });
const id = (prefix: string): object => ({ type: 'string', pattern: `^${prefix}_.+` });
const itemStatus = { enum: ['in_progress', 'completed', 'incomplete'] };

const citation = shape({ type: is('url_citation'), url: text, title: text, start_index: count, end_index: count });
const textPart = shape({
  type: is('output_text'),
  text,
  annotations: { type: 'array', items: citation },
  logprobs: { type: 'array', maxItems: 0 },
});
const refusalPart = shape({ type: is('refusal'), refusal: text });
const part = { anyOf: [textPart, refusalPart] };
const summaryPart = shape({ type: is('summary_text'), text });

const message = shape({
  id: id('msg'),
  type: is('message'),
  role: is('assistant'),
  status: itemStatus,
  content: { type: 'array', items: part },
});
const reasoning = shape(
  { id: id('rs'), type: is('reasoning'), summary: { type: 'array', items: summaryPart } },
  { encrypted_content: { type: 'string', minLength: 1 }, status: itemStatus },
);
const call = { call_id: { type: 'string', minLength: 1 }, status: itemStatus };
const name = { type: 'string', minLength: 1 };
const functionCall = shape(
  { id: id('fc'), type: is('function_call'), ...call, name, arguments: text },
  { namespace: name },
);
const customCall = shape(
  { id: id('ctc'), type: is('custom_tool_call'), ...call, name, input: text },
  { namespace: name },
);
const searchCall = shape({
  id: id('tsc'),
  type: is('tool_search_call'),
  ...call,
  execution: is('client'),
  arguments: object,
});
const item = { anyOf: [message, reasoning, functionCall, customCall, searchCall] };

const usage = shape({
  input_tokens: count,
  input_tokens_details: shape({ cached_tokens: count, cache_write_tokens: count }),
  output_tokens: count,
  output_tokens_details: shape({ reasoning_tokens: count }),
  total_tokens: count,
});

const tool = {
  type: 'object',
  required: ['type'],
  if: { properties: { type: { const: 'function' } } },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['name', 'description', 'parameters', 'strict'] },
};

/** A response in one of these states, which determines what must be null and what must be filled. */
function response(statuses: readonly string[], state: Record<string, object>): object {
  return shape({
    id: id('resp'),
    object: is('response'),
    access_programs: { type: 'null' },
    created_at: count,
    completed_at: countOrNull,
    status: { enum: statuses },
    error: { type: 'null' },
    incomplete_details: { type: 'null' },
    instructions: textOrNull,
    max_output_tokens: countOrNull,
    max_tool_calls: countOrNull,
    model: text,
    output: { type: 'array', items: item },
    parallel_tool_calls: { type: 'boolean' },
    previous_response_id: textOrNull,
    reasoning: shape({ effort: textOrNull, summary: textOrNull }),
    store: { type: 'boolean' },
    background: { type: 'boolean' },
    temperature: { type: 'number' },
    top_p: { type: 'number' },
    top_logprobs: count,
    presence_penalty: { type: 'number' },
    frequency_penalty: { type: 'number' },
    text: { type: 'object', required: ['format'], properties: { format: { type: 'object', required: ['type'] } } },
    tool_choice: { type: ['string', 'object'] },
    tools: { type: 'array', items: tool },
    truncation: { enum: ['auto', 'disabled'] },
    usage,
    metadata: object,
    service_tier: text,
    safety_identifier: textOrNull,
    prompt_cache_key: textOrNull,
    ...state,
  });
}

const inProgress = response(['in_progress'], { usage: { type: 'null' }, output: { type: 'array', maxItems: 0 } });
const completed = response(['completed'], { completed_at: count });
const incomplete = response(['incomplete'], {
  completed_at: { type: 'null' },
  incomplete_details: shape({ reason: { enum: ['max_output_tokens', 'content_filter'] } }),
});
const failed = response(['failed'], {
  usage: { anyOf: [{ type: 'null' }, usage] },
  error: shape({ code: text, message: text }),
});

export const wholeReplySchema = { anyOf: [completed, incomplete] };

export const errorSchema = shape({
  error: shape({ message: text, type: text, param: textOrNull, code: textOrNull }),
});

function event(type: string, members: Record<string, object>): object {
  return shape({ type: is(type), sequence_number: count, ...members });
}

const output_index = count;
const place = { item_id: text, output_index };
const inContent = { ...place, content_index: count };
const inSummary = { ...place, summary_index: count };
const delta = { type: 'string', minLength: 1 };
const logprobs = { type: 'array', maxItems: 0 };

const eventMembers: Readonly<Record<string, Record<string, object>>> = {
  'response.created': { response: inProgress },
  'response.in_progress': { response: inProgress },
  'response.completed': { response: completed },
  'response.incomplete': { response: incomplete },
  error: { error: shape({ message: text, type: text, param: textOrNull, code: textOrNull }) },
  'response.failed': { response: failed },
  'response.output_item.added': { output_index, item },
  'response.output_item.done': { output_index, item },
  'response.content_part.added': { ...inContent, part },
  'response.content_part.done': { ...inContent, part },
  'response.output_text.delta': { ...inContent, delta, logprobs },
  'response.output_text.done': { ...inContent, text, logprobs },
  'response.output_text.annotation.added': { ...inContent, annotation_index: count, annotation: citation },
  'response.refusal.delta': { ...inContent, delta },
  'response.refusal.done': { ...inContent, refusal: text },
  'response.reasoning_summary_part.added': { ...inSummary, part: summaryPart },
  'response.reasoning_summary_part.done': { ...inSummary, part: summaryPart },
  'response.reasoning_summary_text.delta': { ...inSummary, delta },
  'response.reasoning_summary_text.done': { ...inSummary, text },
  'response.function_call_arguments.delta': { ...place, delta },
  'response.function_call_arguments.done': { ...place, name, arguments: text },
  'response.custom_tool_call_input.delta': { ...place, delta },
  'response.custom_tool_call_input.done': { ...place, input: text },
};

/** The keys are types of events; events of other types must not be sent. */
export const eventSchema: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries(eventMembers).map(([type, members]) => [type, event(type, members)]),
);
