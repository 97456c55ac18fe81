import type { JsonObject } from '#core/platform/json.ts';
import { errorSchema, eventSchema, wholeReplySchema } from '../../support/schemas/responses.ts';
import {
  type Call,
  compact,
  type End,
  isObject,
  numberOf,
  objectOf,
  objectsOf,
  parseInput,
  type Result,
  textOf,
  type Tool,
} from '../conversation.ts';
import { type ClientFormat, insist, type Question, type StreamEvent } from './client-format.ts';

/** Responses, as the openai SDK and Codex send and read it. Source: OpenAI API reference, "Responses". */
export const responsesClient: ClientFormat = {
  path: () => '/v1/responses',
  keyHeader: 'authorization',
  write: (question, { model, isStream }) =>
    compact({
      model,
      instructions: question.system,
      input: writeInput(question),
      tools: question.tools?.map(writeTool),
      parallel_tool_calls: question.isSerial === true ? false : undefined,
      reasoning: question.effort && { effort: question.effort, summary: 'auto' },
      text: question.schema && {
        format: { type: 'json_schema', name: 'answer', schema: question.schema, strict: true },
      },
      max_output_tokens: question.limit,
      include: ['reasoning.encrypted_content'],
      store: false,
      stream: isStream,
    }),
  fold,
  read(whole) {
    const output = objectsOf(whole['output']);
    const parts = output.flatMap(({ content }) => objectsOf(content));
    const refusal = joined(parts, 'refusal', 'refusal');
    const calls = output.filter(({ type }) => textOf(type).endsWith('_call')).map(readCall);
    return {
      text: joined(parts, 'output_text', 'text') + refusal,
      thought: joined(
        output.flatMap(({ summary }) => objectsOf(summary)),
        'summary_text',
        'text',
      ),
      calls,
      end: refusal === '' ? endOf(whole, calls.length > 0) : 'withheld',
      stopSequence: undefined,
      usage: readUsage(whole['usage']),
    };
  },
  echo: (whole) => objectsOf(whole['output']),
  failures: {
    overflow: { error: { code: 'context_length_exceeded', type: 'invalid_request_error' } },
    'rate limit': { error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' } },
    'bad key': { error: { code: 'upstream_account_rejected', type: 'upstream_account_error' } },
  },
  schemas: {
    whole: wholeReplySchema,
    error: errorSchema,
    eventType: ({ type }) => textOf(type),
    events: eventSchema,
  },
  cannotSay: (feature) => feature === 'stop sequence',
  echoLosesThoughts: false,
  hasSerialCalls: true,
  hasErrorFlag: false,
  tellsStop: false,
};

function writeInput({ entries }: Question): JsonObject[] {
  const items: JsonObject[] = [];
  for (const entry of entries) {
    const last = items.at(-1);
    if (entry.type === 'echo') items.push(...entry.raw);
    else if (entry.type === 'result') items.push(writeResult(entry, items));
    else {
      insist(entry.type === 'text' || entry.type === 'image', `a user cannot say a ${entry.type}`);
      const part =
        entry.type === 'text'
          ? { type: 'input_text', text: entry.text }
          : { type: 'input_image', image_url: entry.image, detail: 'auto' };
      if (last?.['role'] === 'user' && Array.isArray(last['content'])) last['content'].push(part);
      else items.push({ type: 'message', role: 'user', content: [part] });
    }
  }
  return items;
}

/** The format has no error flag, so the text of the result begins with "Error:". */
function writeResult({ id, text, image, isError }: Result, items: readonly JsonObject[]): JsonObject {
  const call = items.find((item) => item['call_id'] === id);
  const type = call?.['type'] === 'custom_tool_call' ? 'custom_tool_call_output' : 'function_call_output';
  const output = isError === true ? `Error: ${text}` : text;
  if (image === undefined) return { type, call_id: id, output };
  const shown = { type: 'input_image', image_url: image, detail: 'auto' };
  return { type, call_id: id, output: [{ type: 'input_text', text: output }, shown] };
}

function writeTool({ name, description, schema, grammar }: Tool): object {
  if (grammar !== undefined) {
    return { type: 'custom', name, description, format: { type: 'grammar', syntax: 'lark', definition: grammar } };
  }
  return { type: 'function', name, description, parameters: schema ?? null, strict: false };
}

function joined(parts: readonly JsonObject[], type: string, member: string): string {
  return parts
    .filter((part) => part['type'] === type)
    .map((part) => textOf(part[member]))
    .join('');
}

function readCall(item: JsonObject): Call {
  const isFreeform = item['type'] === 'custom_tool_call';
  return {
    type: 'call',
    id: textOf(item['call_id']),
    name: textOf(item['name']),
    input: isFreeform ? textOf(item['input']) : parseInput(textOf(item['arguments'])),
  };
}

function endOf(whole: JsonObject, hasCalls: boolean): End | undefined {
  if (whole['status'] === 'completed') return hasCalls ? 'calls' : 'stop';
  const { reason } = objectOf(whole['incomplete_details']);
  if (reason === 'max_output_tokens') return 'length';
  return reason === 'content_filter' ? 'withheld' : undefined;
}

function readUsage(value: unknown): ReturnType<ClientFormat['read']>['usage'] {
  if (!isObject(value)) return undefined;
  const input = numberOf(value['input_tokens']);
  const output = numberOf(value['output_tokens']);
  insist(value['total_tokens'] === input + output, 'total_tokens is not the sum of both');
  return {
    input,
    output,
    cached: numberOf(objectOf(value['input_tokens_details'])['cached_tokens']),
    thinking: numberOf(objectOf(value['output_tokens_details'])['reasoning_tokens']),
  };
}

const deltaOf: Readonly<Record<string, string>> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'refusal',
  'response.reasoning_summary_text.delta': 'text',
  'response.reasoning_text.delta': 'text',
  'response.function_call_arguments.delta': 'arguments',
  'response.custom_tool_call_input.delta': 'input',
};

/** The response of the last event, when deltas, items and response agree. */
function fold(events: readonly StreamEvent[]): JsonObject {
  const all = events.map(({ data }) => objectOf(JSON.parse(data)));
  const deltas = new Map<number, string>();
  const items: JsonObject[] = [];
  let opened = 0;
  for (const [index, event] of all.entries()) {
    insist(event['sequence_number'] === index, `sequence_number ${String(event['sequence_number'])} is not ${index}`);
    const type = textOf(event['type']);
    insist(events[index]?.name === type, `event: is not ${type}`);
    const place = numberOf(event['output_index']);
    if (type === 'response.output_item.added') insist(place === opened++, 'output_index is not dense');
    if (type in deltaOf) deltas.set(place, (deltas.get(place) ?? '') + textOf(event['delta']));
    if (type === 'response.output_item.done') items[place] = objectOf(event['item']);
  }
  const last = all.at(-1);
  insist(/^response\.(completed|incomplete)$/.test(textOf(last?.['type'])), 'the stream has no last event');
  const whole = objectOf(last?.['response']);
  insist(JSON.stringify(items) === JSON.stringify(whole['output']), 'items and output differ');
  for (const [place, item] of items.entries()) {
    insist((deltas.get(place) ?? '') === contentOf(item), `the deltas of item ${place} are not what it says`);
  }
  return whole;
}

function contentOf(item: JsonObject): string {
  const parts = [...objectsOf(item['content']), ...objectsOf(item['summary'])];
  return (
    textOf(item['arguments']) +
    textOf(item['input']) +
    parts.map((part) => textOf(part['text']) + textOf(part['refusal'])).join('')
  );
}
