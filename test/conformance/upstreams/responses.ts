import type { JsonObject } from '#core/platform/json.ts';
import {
  type Answer,
  type AnswerBlock,
  type Ask,
  compact,
  type Entry,
  objectOf,
  objectsOf,
  parseInput,
  textOf,
  type Tool,
  type Usage,
} from '../conversation.ts';
import { responsesRequestSchema } from './responses-request.ts';
import { checkAnswered, named, piecesOf, type UpstreamFormat } from './upstream-format.ts';

/** A stateless Responses endpoint. Source: OpenAI API reference, "Responses". */
export const responsesUpstream: UpstreamFormat = {
  path: () => '/responses',
  schema: responsesRequestSchema,
  read(body) {
    const items = objectsOf(body['input']);
    const idsOf = (pattern: RegExp): string[] =>
      items.filter(({ type }) => pattern.test(textOf(type))).map((item) => textOf(item['call_id']));
    checkAnswered(idsOf(/_call$/), idsOf(/_call_output$/), 'input');
    checkReasoning(items);
    const { format } = objectOf(body['text']);
    return compact({
      system: body['instructions'],
      entries: items.flatMap(readItem),
      tools: body['tools'] && objectsOf(body['tools']).map(readTool),
      isSerial: body['parallel_tool_calls'] === false || undefined,
      effort: objectOf(body['reasoning'])['effort'],
      schema: objectOf(format)['schema'],
      limit: body['max_output_tokens'],
    }) as unknown as Ask;
  },
  whole: (answer, model) => response(answer, model, answer.blocks.map(writeItem)),
  events(answer, model) {
    const items = answer.blocks.map(writeItem);
    const begun = { ...response(answer, model, []), ...unfinished };
    const last = response(answer, model, items);
    const events = [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      ...answer.blocks.flatMap((block, index) => itemEvents(block, items[index] as JsonObject, index)),
      { type: `response.${String(last['status'])}`, response: last },
    ];
    return events.map((event, index) => ({ ...event, sequence_number: index }));
  },
  frame: named,
  failures: {
    overflow: {
      status: 400,
      body: {
        error: {
          message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
          type: 'invalid_request_error',
          param: 'input',
          code: 'context_length_exceeded',
        },
      },
    },
    'rate limit': {
      status: 429,
      body: { error: { message: 'Rate limit reached', type: 'requests', param: null, code: 'rate_limit_exceeded' } },
    },
    'bad key': {
      status: 401,
      body: {
        error: {
          message: 'Incorrect API key provided: sk-ab***yz',
          type: 'invalid_request_error',
          param: null,
          code: 'invalid_api_key',
        },
      },
    },
  },
};

/** Reasoning is refused when the item it led to does not follow. */
function checkReasoning(items: readonly JsonObject[]): void {
  for (const [index, { type }] of items.entries()) {
    const next = items[index + 1];
    const leads = /_call$|^reasoning$/.test(textOf(next?.['type'])) || next?.['role'] === 'assistant';
    if (type === 'reasoning' && !leads) throw new Error(`input[${index}]: reasoning without what followed it`);
  }
}

function readItem(item: JsonObject): Entry[] {
  const type = textOf(item['type']);
  const id = textOf(item['call_id']);
  const name = textOf(item['name']);
  // AI SDK leaves the type of a message out.
  if (type === 'message' || item['role'] !== undefined) return readMessage(item);
  if (type === 'function_call') return [{ type: 'call', id, name, input: parseInput(textOf(item['arguments'])) }];
  if (type === 'custom_tool_call') return [{ type: 'call', id, name, input: textOf(item['input']) }];
  if (type.endsWith('_output')) return [readResult(id, item['output'])];
  const text = objectsOf(item['summary'])
    .map((part) => textOf(part['text']))
    .join('');
  return [{ type: 'thought', text, signature: textOf(item['encrypted_content']) }];
}

function readMessage({ role, content }: JsonObject): Entry[] {
  const by = role === 'assistant' ? 'model' : 'user';
  const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : objectsOf(content);
  return parts.map((part: JsonObject): Entry => {
    if (part['type'] === 'input_image') return { type: 'image', image: textOf(part['image_url']) };
    const text = textOf(part['text']) + textOf(part['refusal']);
    return { type: 'text', by, text: role === 'user' || by === 'model' ? text : `${textOf(role)}: ${text}` };
  });
}

function readResult(id: string, output: unknown): Entry {
  const parts = typeof output === 'string' ? [{ type: 'input_text', text: output }] : objectsOf(output);
  const text = parts.map((part) => textOf((part as JsonObject)['text'])).join('');
  const image = parts.map((part) => textOf((part as JsonObject)['image_url'])).join('');
  const isError = text.startsWith('Error: ');
  return {
    type: 'result',
    id,
    text: isError ? text.slice('Error: '.length) : text,
    ...(image !== '' && { image }),
    ...(isError && { isError }),
  };
}

function readTool(tool: JsonObject): Tool {
  const head = { name: textOf(tool['name']), description: textOf(tool['description']) };
  if (tool['type'] === 'custom') return { ...head, grammar: textOf(objectOf(tool['format'])['definition']) };
  return { ...head, schema: (tool['parameters'] ?? undefined) as JsonObject | undefined };
}

function writeItem(block: AnswerBlock, index: number): JsonObject {
  const status = 'completed';
  switch (block.type) {
    case 'thought': {
      const summary = [writeSummary(block.text)];
      return compact({ id: `rs_${index}`, type: 'reasoning', summary, encrypted_content: block.signature, status });
    }
    case 'call': {
      const call = { call_id: block.id, name: block.name, status };
      return typeof block.input === 'string'
        ? { id: `ctc_${index}`, type: 'custom_tool_call', ...call, input: block.input }
        : { id: `fc_${index}`, type: 'function_call', ...call, arguments: JSON.stringify(block.input) };
    }
    default:
      return { id: `msg_${index}`, type: 'message', role: 'assistant', status, content: [writePart(block)] };
  }
}

function writePart(block: AnswerBlock): JsonObject {
  if (block.type === 'refusal') return { type: 'refusal', refusal: block.text };
  return { type: 'output_text', text: 'text' in block ? block.text : '', annotations: [], logprobs: [] };
}

function writeSummary(text: string): JsonObject {
  return { type: 'summary_text', text };
}

/** An item in progress. */
function opening(item: JsonObject): JsonObject {
  const empty: JsonObject = {};
  for (const name of ['arguments', 'input']) if (name in item) empty[name] = '';
  for (const name of ['content', 'summary']) if (name in item) empty[name] = [];
  const { encrypted_content: _, ...open } = item;
  return { ...open, ...empty, status: 'in_progress' };
}

function itemEvents(block: AnswerBlock, item: JsonObject, output_index: number): JsonObject[] {
  const place = { item_id: textOf(item['id']), output_index };
  return [
    { type: 'response.output_item.added', output_index, item: opening(item) },
    ...contentEvents(block, place),
    { type: 'response.output_item.done', output_index, item },
  ];
}

function contentEvents(block: AnswerBlock, place: JsonObject): JsonObject[] {
  switch (block.type) {
    case 'thought': {
      const summary = { ...place, summary_index: 0 };
      const kind = 'response.reasoning_summary';
      return [
        { type: `${kind}_part.added`, ...summary, part: writeSummary('') },
        ...piecesOf(block.text).map((delta) => ({ type: `${kind}_text.delta`, ...summary, delta })),
        { type: `${kind}_text.done`, ...summary, text: block.text },
        { type: `${kind}_part.done`, ...summary, part: writeSummary(block.text) },
      ];
    }
    case 'call':
      return callEvents(block.name, block.input, place);
    default:
      return partEvents(block, { ...place, content_index: 0 });
  }
}

function callEvents(name: string, input: unknown, place: JsonObject): JsonObject[] {
  const isFreeform = typeof input === 'string';
  const kind = isFreeform ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
  const text = isFreeform ? input : JSON.stringify(input);
  const done = isFreeform ? { input: text } : { name, arguments: text };
  return [
    ...piecesOf(text).map((delta) => ({ type: `${kind}.delta`, ...place, delta })),
    { type: `${kind}.done`, ...place, ...done },
  ];
}

function partEvents(block: Exclude<AnswerBlock, { type: 'call' | 'thought' }>, place: JsonObject): JsonObject[] {
  const isRefusal = block.type === 'refusal';
  const kind = isRefusal ? 'response.refusal' : 'response.output_text';
  const extra = isRefusal ? {} : { logprobs: [] };
  const text = { [isRefusal ? 'refusal' : 'text']: block.text };
  return [
    { type: 'response.content_part.added', ...place, part: writePart({ ...block, text: '' }) },
    ...piecesOf(block.text).map((delta) => ({ type: `${kind}.delta`, ...place, delta, ...extra })),
    { type: `${kind}.done`, ...place, ...text, ...extra },
    { type: 'response.content_part.done', ...place, part: writePart(block) },
  ];
}

const unfinished = { status: 'in_progress', completed_at: null, incomplete_details: null, usage: null };

function response(answer: Answer, model: string, output: JsonObject[]): JsonObject {
  const { end, blocks } = answer;
  const isFiltered = end === 'withheld' && !blocks.some(({ type }) => type === 'refusal');
  const reason = end === 'length' ? 'max_output_tokens' : 'content_filter';
  const isIncomplete = end === 'length' || isFiltered;
  return {
    ...defaults,
    id: 'resp_there',
    object: 'response',
    created_at: 1_790_000_000,
    completed_at: isIncomplete ? null : 1_790_000_001,
    status: isIncomplete ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isIncomplete ? { reason } : null,
    model,
    output,
    usage: answer.usage === undefined ? null : writeUsage(answer.usage),
  };
}

/** Request members that a response repeats, with their defaults. */
const defaults = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: false,
  background: false,
  temperature: 1,
  top_p: 1,
  top_logprobs: 0,
  presence_penalty: 0,
  frequency_penalty: 0,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  truncation: 'disabled',
  metadata: {},
  service_tier: 'default',
  access_programs: null,
  safety_identifier: null,
  prompt_cache_key: null,
} satisfies JsonObject;

function writeUsage({ input, cached, output, thinking }: Usage): JsonObject {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thinking },
    total_tokens: input + output,
  };
}
