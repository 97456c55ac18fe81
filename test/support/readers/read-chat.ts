import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import {
  type Answer,
  type Call,
  check,
  type ClientReader,
  type Counts,
  eventsOf,
  imageAt,
  nothing,
  number,
  object,
  objects,
  string,
} from './answer.ts';

/** Reads Chat Completions as the openai SDK does: pieces add up by choice and by index. Only the first choice is read. */
export const chatReader: ClientReader = {
  stream(text) {
    const draft = new Draft();
    let isDone = false;
    for (const { data } of eventsOf(text)) {
      check(!isDone, 'something comes behind [DONE]');
      isDone = data === '[DONE]';
      if (!isDone) draft.add(JSON.parse(data) as JsonObject);
    }
    return draft.answer();
  },

  whole(body) {
    const choice = objects(body['choices'])[0] ?? {};
    const message = object(choice['message']);
    const { content = null } = message;
    check(content === null || typeof content === 'string', 'the content is not text');
    return {
      ...nothing,
      text: content ?? '',
      reasoning: reasoningOf(message),
      refusal: string(message['refusal']),
      calls: objects(message['tool_calls']).map(readCall),
      citations: [...citationsOf(message), ...sourcesOf(body, message)],
      images: imagesOf(message),
      finish: string(choice['finish_reason']),
      usage: readUsage(body['usage']),
    };
  },
};

class Draft {
  #hasRole = false;
  #text = '';
  #reasoning = '';
  #refusal = '';
  readonly #calls: JsonObject[] = [];
  readonly #citations: string[] = [];
  readonly #images: string[] = [];
  #finish: JsonValue = null;
  #usage: Counts | undefined;
  #error: Answer['error'];

  add(chunk: JsonObject): void {
    check(this.#error === undefined, 'something comes behind the error');
    if (isJsonObject(chunk['error'])) {
      this.#error = { code: String(chunk['error']['code']), message: String(chunk['error']['message']) };
      return;
    }
    this.#usage = readUsage(chunk['usage']) ?? this.#usage;
    check(Array.isArray(chunk['choices']), 'a chunk has no list of choices');
    this.#citations.push(...sourcesOf(chunk, object(objects(chunk['choices'])[0]?.['delta'])));
    for (const choice of objects(chunk['choices'])) if (choice['index'] === 0) this.#choice(choice);
  }

  answer(): Answer {
    check((this.#finish !== null) !== (this.#error !== undefined), 'there is no end, or a finish before an error');
    return {
      text: this.#text,
      reasoning: this.#reasoning,
      refusal: this.#refusal,
      calls: this.#error === undefined ? this.#calls.map(readCall) : [],
      citations: this.#citations,
      images: this.#images,
      finish: this.#finish === null ? undefined : string(this.#finish),
      usage: this.#usage,
      error: this.#error,
    };
  }

  #choice({ delta, finish_reason = null }: JsonObject): void {
    check(isJsonObject(delta), 'a choice has no delta');
    this.#hasRole ||= delta['role'] === 'assistant';
    check(this.#hasRole, 'the first delta has no role');
    const { content = null } = delta;
    check(content === null || typeof content === 'string', 'the content of a delta is not text');
    check(this.#finish === null || (content ?? '') === '', 'text comes behind the finish');
    this.#text += content ?? '';
    this.#reasoning += reasoningOf(delta);
    this.#refusal += string(delta['refusal']);
    this.#citations.push(...citationsOf(delta));
    this.#images.push(...imagesOf(delta));
    for (const entry of objects(delta['tool_calls'])) addCall(this.#calls, entry);
    check(this.#finish === null || finish_reason === null, 'the answer finishes twice');
    this.#finish ??= finish_reason;
  }
}

/** The first piece of a call names it; the others add to its arguments. */
function addCall(calls: JsonObject[], { index, ...entry }: JsonObject): void {
  check(typeof index === 'number', 'a piece of a call has no index');
  check(index <= calls.length, 'an index of a call is left out');
  const call = calls[index];
  if (call === undefined) {
    check(string(entry['id']) !== '' && string(entry['type']) !== '', 'a call opens without id or type');
    calls.push(structuredClone(entry));
    return;
  }
  const [kind, member] = call['type'] === 'custom' ? ['custom', 'input'] : ['function', 'arguments'];
  const said = object(call[kind]);
  const name = string(object(entry[kind])['name']);
  check(name === '' || name === said['name'], 'a piece of a call has another name');
  call[kind] = { ...said, [member]: string(said[member]) + string(object(entry[kind])[member]) };
}

function readCall({ id, type, ...call }: JsonObject): Call {
  if (type === 'custom') {
    const { name, input } = object(call['custom']);
    return { id: string(id), name: string(name), input: string(input) };
  }
  const { name, arguments: given } = object(call['function']);
  return { id: string(id), name: string(name), arguments: JSON.parse(string(given)) as JsonValue };
}

/** DeepSeek's name for it, then OpenRouter's. Neither is part of the format. */
function reasoningOf(message: JsonObject): string {
  return string(message['reasoning_content']) || string(message['reasoning']);
}

function citationsOf(message: JsonObject): string[] {
  return objects(message['annotations']).map((annotation) => string(object(annotation['url_citation'])['url']));
}

/** xAI, Perplexity, Z.ai and Groq send lists next to the text. They are not part of the format. */
function sourcesOf(body: JsonObject, message: JsonObject): string[] {
  const listed = Array.isArray(body['citations']) ? body['citations'].map((one) => string(one)) : [];
  const found = objects(message['executed_tools']).flatMap((tool) =>
    objects(object(tool['search_results'])['results']),
  );
  const searched = [...objects(body['search_results']), ...objects(body['web_search']), ...found];
  return [...listed, ...searched.map(({ url, link }) => string(url ?? link))].filter((url) => url !== '');
}

/** OpenRouter's name for it, which is not part of the format. */
function imagesOf(message: JsonObject): string[] {
  return objects(message['images']).map((image) => imageAt(string(object(image['image_url'])['url'])));
}

/** xAI counts reasoning only in the total, not in the completion. */
function readUsage(usage: JsonValue | undefined): Counts | undefined {
  if (!isJsonObject(usage)) return undefined;
  const prompt = object(usage['prompt_tokens_details']);
  const input = number(usage['prompt_tokens']);
  const total = number(usage['total_tokens']);
  return {
    input,
    output: input === undefined || total === undefined ? number(usage['completion_tokens']) : total - input,
    cached: number(prompt['cached_tokens']),
    written: number(prompt['cache_write_tokens']),
    reasoning: number(object(usage['completion_tokens_details'])['reasoning_tokens']),
  } as Counts;
}
