import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import {
  type Answer,
  type Call,
  check,
  type ClientReader,
  type Counts,
  eventsOf,
  type Finish,
  nothing,
  number,
  object,
  objects,
  paragraphs,
  string,
} from './answer.ts';

/** Reads Responses as the openai SDK and Codex do: events build up the items, and the last event repeats all of them. */
export const responsesReader: ClientReader = {
  stream(text) {
    const draft = new Draft();
    eventsOf(text).forEach(({ name, data }, position) => {
      const event = JSON.parse(data) as JsonObject;
      check(name === event['type'], 'the name of an event is not its type');
      check(event['sequence_number'] === position, 'an event has the wrong number');
      draft.add(event);
    });
    return draft.answer();
  },
  whole: readResponse,
};

const endings = new Set(['response.completed', 'response.incomplete', 'response.failed']);
/** Events that add to a text, and the property of the item or of its part to which they add. */
const deltas: Readonly<Record<string, string>> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'refusal',
  'response.reasoning_text.delta': 'text',
  'response.reasoning_summary_text.delta': 'text',
  'response.function_call_arguments.delta': 'arguments',
  'response.custom_tool_call_input.delta': 'input',
};
/** Events of the SDK's union that repeat what is known. The SDK's helper throws on events outside the union. */
const repeating = new Set([
  'response.in_progress',
  'response.output_text.done',
  'response.output_text.annotation.added',
  'response.refusal.done',
  'response.content_part.done',
  'response.reasoning_text.done',
  'response.reasoning_summary_text.done',
  'response.reasoning_summary_part.done',
  'response.function_call_arguments.done',
  'response.custom_tool_call_input.done',
]);

/** Events of tools that the vendor itself runs. */
const hosted =
  /^response\.(web_search_call|file_search_call|code_interpreter_call|image_generation_call|mcp_call|mcp_list_tools)(_|\.)[a-z_.]+$/;

class Draft {
  readonly #items: JsonObject[] = []; // as built from their events
  readonly #done: JsonObject[] = [];
  #ending: JsonObject | undefined;
  #hasStarted = false;

  add(event: JsonObject): void {
    const type = string(event['type']);
    check(this.#ending === undefined, 'something comes behind the end');
    // The failed response repeats the error.
    if (type === 'error') return;
    check(
      type === 'response.failed' || this.#hasStarted !== (type === 'response.created'),
      'the answer does not start exactly once',
    );
    this.#hasStarted = true;
    if (endings.has(type)) this.#ending = object(event['response']);
    else if (deltas[type] !== undefined) this.#grow(event, deltas[type]);
    else this.#open(type, event);
  }

  answer(): Answer {
    check(this.#ending !== undefined, 'the stream has no end');
    const answer = readResponse(this.#ending);
    if (answer.error !== undefined) return { ...answer, text: paragraphs(this.#items.flatMap(textsOf)) };
    const streamed = readResponse({ ...this.#ending, output: this.#items });
    const isSame = JSON.stringify({ ...streamed, citations: [] }) === JSON.stringify({ ...answer, citations: [] });
    check(isSame, 'the last event differs from what was streamed');
    check(
      JSON.stringify(this.#ending['output']) === JSON.stringify(this.#done),
      'the output differs from the items that were done',
    );
    return answer;
  }

  #open(type: string, event: JsonObject): void {
    const index = Number(event['output_index']);
    switch (type) {
      case 'response.created':
      case 'response.queued':
        return;
      case 'response.output_item.added':
        check(index === this.#items.length, 'an item opens out of turn');
        this.#items.push(structuredClone(object(event['item'])));
        return;
      case 'response.output_item.done':
        this.#done[index] = object(event['item']);
        // An image has no deltas.
        if (this.#done[index]['type'] === 'image_generation_call') this.#items[index] = this.#done[index];
        return;
      case 'response.content_part.added':
      case 'response.reasoning_summary_part.added':
        this.#addPart(this.#items[index], type.includes('summary') ? 'summary' : 'content', object(event['part']));
        return;
      default:
        check(repeating.has(type) || hosted.test(type), `unknown event ${type}`);
    }
  }

  #addPart(item: JsonObject | undefined, list: string, part: JsonObject): void {
    check(item !== undefined, 'a part belongs to no item');
    item[list] = [...objects(item[list]), structuredClone(part)];
  }

  #grow(event: JsonObject, member: string): void {
    const item = this.#items[Number(event['output_index'])];
    check(item !== undefined, 'a piece belongs to no item');
    const parts = objects(item[event['summary_index'] === undefined ? 'content' : 'summary']);
    const holder = member === 'text' || member === 'refusal' ? parts.at(-1) : item;
    check(holder !== undefined, 'a piece belongs to no part');
    holder[member] = string(holder[member]) + string(event['delta']);
  }
}

function readResponse(response: JsonObject): Answer {
  const output = objects(response['output']);
  const { error, status } = response;
  if (isJsonObject(error)) {
    check(status === 'failed', 'an error without the status of a failure');
    return { ...nothing, error: { code: string(error['code']), message: string(error['message']) } };
  }
  const parts = output.flatMap(({ content }) => objects(content));
  const calls = output.flatMap(readCall);
  return {
    ...nothing,
    text: paragraphs(output.flatMap(textsOf)),
    reasoning: paragraphs(output.flatMap(thoughtsOf)),
    refusal: paragraphs(parts.map((part) => string(part['refusal']))),
    calls,
    citations: parts.flatMap(({ annotations }) =>
      objects(annotations).flatMap(({ url }) => (typeof url === 'string' ? [url] : [])),
    ),
    images: output.flatMap(({ type, result }) => (type === 'image_generation_call' ? [string(result)] : [])),
    finish: finishOf(response, calls),
    usage: readUsage(response['usage']),
  };
}

function textsOf({ type, content }: JsonObject): string[] {
  if (type !== 'message') return [];
  return [
    objects(content)
      .map((part) => string(part['text']))
      .join(''),
  ];
}

function thoughtsOf({ type, summary, content }: JsonObject): string[] {
  if (type !== 'reasoning') return [];
  return [...objects(summary), ...objects(content)].map((part) => string(part['text']));
}

function readCall({ type, call_id, name, arguments: given, input }: JsonObject): Call[] {
  const head = { id: string(call_id), name: string(name) };
  if (type === 'custom_tool_call') return [{ ...head, input: string(input) }];
  return type === 'function_call' ? [{ ...head, arguments: JSON.parse(string(given)) as JsonValue }] : [];
}

function finishOf({ status, incomplete_details }: JsonObject, calls: readonly Call[]): Finish {
  if (status === 'completed') return calls.length > 0 ? 'tool_calls' : 'stop';
  check(status === 'incomplete', `the answer ends as ${string(status)}`);
  return object(incomplete_details)['reason'] === 'content_filter' ? 'content_filter' : 'length';
}

function readUsage(usage: JsonValue | undefined): Counts | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { input_tokens, output_tokens, total_tokens } = usage;
  check(total_tokens === Number(input_tokens) + Number(output_tokens), 'the total is not the sum');
  const input = object(usage['input_tokens_details']);
  return {
    input: number(input_tokens),
    output: number(output_tokens),
    cached: number(input['cached_tokens']),
    written: number(input['cache_write_tokens']),
    reasoning: number(object(usage['output_tokens_details'])['reasoning_tokens']),
  } as Counts;
}
