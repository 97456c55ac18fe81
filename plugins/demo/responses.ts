import { isJsonObject, type JsonObject } from '#core/json.ts';
import type { Answer, StreamEvent, Work } from './answer.ts';
import { createIdentity, type Identity, opaqueState } from './identity.ts';
import { readResponsesPrompt } from './responses-prompt.ts';
import { lastUserText, objectsIn } from './prompt.ts';
import { joinTokens, type Part, type Script, writeScript } from './script.ts';

/** Responses. Source: OpenAI API reference, "Responses"; what has to be present: the Open Responses schema. */
export function answerResponses(body: JsonObject): Answer {
  const prompt = readResponsesPrompt(body);
  const script = writeScript(prompt);
  const identity = createIdentity();
  const outputs = writeOutputs(script, identity, body);
  const isCut = script.finish === 'length';
  const response = (status: string, changes: object) => writeResponse(body, identity, { status, ...changes });
  const over = () =>
    response(isCut ? 'incomplete' : 'completed', {
      completed_at: isCut ? null : identity.created,
      incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
      output: outputs.map(({ item }) => item),
      usage: writeUsage(script),
    });
  const failed = (message: string) => response('failed', { error: { code: 'server_error', message } });
  return {
    model: prompt.model,
    text: lastUserText(prompt),
    isStream: prompt.isStream,
    whole: over,
    events: () => writeEvents(outputs, response('in_progress', {}), over()),
    failure: failed,
    failureEvent: (message, eventsBefore) => {
      // At the start real upstreams send the bare event, later the whole object.
      const name = eventsBefore === 0 ? 'error' : 'response.failed';
      const what = eventsBefore === 0 ? { code: 'server_error', message, param: null } : { response: failed(message) };
      return { name, data: { type: name, sequence_number: eventsBefore, ...what } };
    },
  };
}

/** A part of the script and the item that it is in the end. */
interface Output {
  readonly part: Part;
  readonly item: JsonObject & { readonly id: string };
}

function writeOutputs({ parts, finish }: Script, { id }: Identity, body: JsonObject): Output[] {
  const include = Array.isArray(body['include']) ? body['include'] : [];
  return parts.map((part, index) => {
    const status = finish === 'length' && index === parts.length - 1 ? 'incomplete' : 'completed';
    return { part, item: writeItem(part, `${id}${index}`, status, include.includes('reasoning.encrypted_content')) };
  });
}

function writeItem(part: Part, id: string, status: string, withState: boolean): Output['item'] {
  const text = joinTokens(part);
  switch (part.type) {
    case 'reasoning':
      return {
        id: `rs_${id}`,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text }],
        ...(withState && { encrypted_content: opaqueState(id) }),
      };
    case 'text':
      return { id: `msg_${id}`, type: 'message', role: 'assistant', status, content: [textPart(text)] };
    case 'tool_call': {
      const { name, namespace, schema } = part.tool;
      const call = { call_id: `call_${id}`, name, ...(namespace !== undefined && { namespace }) };
      if (schema === undefined) return { id: `ctc_${id}`, type: 'custom_tool_call', ...call, input: text, status };
      return { id: `fc_${id}`, type: 'function_call', ...call, arguments: text, status };
    }
  }
}

function textPart(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** Numbers the events of one stream. */
class EventList {
  readonly events: StreamEvent[] = [];

  add(type: string, members: object, after?: Work): void {
    const data = { type, sequence_number: this.events.length, ...members };
    this.events.push({ name: type, data, ...(after && { after }) });
  }
}

function writeEvents(outputs: readonly Output[], begun: object, over: JsonObject): StreamEvent[] {
  const list = new EventList();
  list.add('response.created', { response: begun });
  list.add('response.in_progress', { response: begun }, 'start');
  for (const [index, { part, item }] of outputs.entries()) {
    list.add('response.output_item.added', { output_index: index, item: opened(item) });
    writePart(list, part, item, { item_id: item.id, output_index: index });
    list.add('response.output_item.done', { output_index: index, item });
  }
  list.add(`response.${String(over['status'])}`, { response: over });
  return list.events;
}

/** The item as it is before anything of it has been said. */
function opened(item: JsonObject): JsonObject {
  const { encrypted_content: _, ...rest } = item;
  const empty = { summary: [], content: [], arguments: '', input: '' } as const;
  const emptied = Object.entries(empty).filter(([name]) => name in item);
  return { ...rest, ...Object.fromEntries(emptied), status: 'in_progress' };
}

function writePart(list: EventList, part: Part, item: JsonObject, place: object): void {
  const text = joinTokens(part);
  switch (part.type) {
    case 'reasoning': {
      const at = { ...place, summary_index: 0 };
      list.add('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
      for (const [index, delta] of part.tokens.entries())
        list.add('response.reasoning_summary_text.delta', { ...at, delta }, index === 0 ? 'thinking' : 'token');
      list.add('response.reasoning_summary_text.done', { ...at, text });
      list.add('response.reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text } });
      return;
    }
    case 'text': {
      const at = { ...place, content_index: 0 };
      list.add('response.content_part.added', { ...at, part: textPart('') });
      for (const delta of part.tokens) list.add('response.output_text.delta', { ...at, delta, logprobs: [] }, 'token');
      list.add('response.output_text.done', { ...at, text, logprobs: [] });
      list.add('response.content_part.done', { ...at, part: textPart(text) });
      return;
    }
    case 'tool_call': {
      const isFreeform = part.tool.schema === undefined;
      const type = isFreeform ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
      for (const delta of part.tokens) list.add(`${type}.delta`, { ...place, delta }, 'token');
      list.add(`${type}.done`, {
        ...place,
        ...(isFreeform ? { input: text } : { name: item['name'], arguments: text }),
      });
    }
  }
}

/** The response object with what the request said, or the defaults of the format. */
function writeResponse(body: JsonObject, { id, created }: Identity, changes: object): JsonObject {
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: created,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    model: body['model'] ?? null,
    output: [],
    parallel_tool_calls: body['parallel_tool_calls'] !== false,
    previous_response_id: body['previous_response_id'] ?? null,
    reasoning: body['reasoning'] ?? { effort: null, summary: null },
    store: body['store'] !== false,
    temperature: body['temperature'] ?? 1,
    text: { format: { type: 'text' }, ...(isJsonObject(body['text']) && body['text']) },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: objectsIn(body['tools']).map(completeTool),
    top_p: body['top_p'] ?? 1,
    top_logprobs: body['top_logprobs'] ?? 0,
    presence_penalty: 0,
    frequency_penalty: 0,
    truncation: body['truncation'] ?? 'disabled',
    usage: null,
    metadata: body['metadata'] ?? {},
    background: false,
    service_tier: 'default',
    safety_identifier: body['safety_identifier'] ?? null,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    ...changes,
  };
}

/** Functions have all four members in a response, whatever the request left out. */
function completeTool(tool: JsonObject): JsonObject {
  return tool['type'] === 'function' ? { description: null, parameters: null, strict: null, ...tool } : tool;
}

function writeUsage({ usage }: Script): JsonObject {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
}
