import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import {
  type Answer,
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

const finishes: Readonly<Record<string, Finish>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
  pause_turn: 'pause',
};

/** Reads Messages as the anthropic SDK does: the events build up the message that is the complete answer. */
export const messagesReader: ClientReader = {
  stream(text) {
    const draft = new Draft();
    for (const { name, data } of eventsOf(text)) {
      const event = JSON.parse(data) as JsonObject;
      check(name === event['type'], 'the name of an event is not its type');
      draft.add(event);
    }
    return draft.answer();
  },
  whole: readMessage,
};

class Draft {
  #message: JsonObject | undefined;
  readonly #content: JsonObject[] = [];
  #openIndex: number | undefined;
  #input = '';
  #isOver = false;
  #error: Answer['error'];

  add(event: JsonObject): void {
    check(!this.#isOver, 'something comes behind the end');
    if (event['type'] === 'ping') return;
    if (event['type'] === 'error') {
      const { type, message } = object(event['error']);
      this.#error = { code: string(type), message: string(message) };
      this.#isOver = true;
      return;
    }
    check(
      (this.#message === undefined) === (event['type'] === 'message_start'),
      'the message does not start exactly once',
    );
    this.#take(event);
  }

  answer(): Answer {
    check(this.#isOver, 'the stream has no end');
    if (this.#error !== undefined) {
      return { ...nothing, text: paragraphs(joinTexts(this.#content)), error: this.#error };
    }
    return readMessage({ ...this.#message, content: this.#content });
  }

  #take(event: JsonObject): void {
    switch (event['type']) {
      case 'message_start':
        this.#message = object(event['message']);
        check(isJsonObject(this.#message['usage']), 'the message starts without counts');
        return;
      case 'content_block_start':
        check(this.#openIndex === undefined && event['index'] === this.#content.length, 'a block opens out of turn');
        this.#openIndex = this.#content.length;
        this.#content.push(structuredClone(object(event['content_block'])));
        this.#input = '';
        return;
      case 'content_block_delta':
        check(this.#openIndex === event['index'], 'a piece belongs to no open block');
        this.#piece(this.#content.at(-1) ?? {}, object(event['delta']));
        return;
      case 'content_block_stop':
        check(this.#openIndex === event['index'], 'a block stops that is not open');
        this.#openIndex = undefined;
        if (this.#input !== '') Object.assign(this.#content.at(-1) ?? {}, { input: JSON.parse(this.#input) });
        return;
      case 'message_delta':
        check(this.#openIndex === undefined, 'the message ends inside a block');
        this.#message = {
          ...this.#message,
          ...object(event['delta']),
          usage: { ...object(this.#message?.['usage']), ...object(event['usage']) },
        };
        return;
      case 'message_stop':
        this.#isOver = true;
        return;
      default:
        throw new Error(`unknown event ${string(event['type'])}`);
    }
  }

  #piece(block: JsonObject, delta: JsonObject): void {
    switch (delta['type']) {
      case 'text_delta':
        block['text'] = string(block['text']) + string(delta['text']);
        return;
      case 'thinking_delta':
        block['thinking'] = string(block['thinking']) + string(delta['thinking']);
        return;
      case 'signature_delta':
        check(string(block['signature']) === '', 'a block has two signatures');
        block['signature'] = delta['signature'] ?? '';
        return;
      case 'citations_delta':
        block['citations'] = [...objects(block['citations']), object(delta['citation'])];
        return;
      case 'input_json_delta':
        this.#input += string(delta['partial_json']);
        return;
      default:
        throw new Error(`unknown piece ${string(delta['type'])}`);
    }
  }
}

function readMessage(message: JsonObject): Answer {
  const content = objects(message['content']);
  const of = (type: string) => content.filter((block) => block['type'] === type);
  const reason = string(message['stop_reason']);
  check(reason in finishes, `unknown stop reason ${reason}`);
  const said = paragraphs(joinTexts(content));
  const refusal = string(object(message['stop_details'])['explanation']);
  return {
    ...nothing,
    // A refusal is also in the text, for clients that do not know stop details.
    text: said.endsWith(refusal) ? said.slice(0, said.length - refusal.length) : said,
    refusal,
    reasoning: paragraphs(of('thinking').map((block) => string(block['thinking']))),
    calls: of('tool_use').map(({ id, name, input }) => {
      check(isJsonObject(input), 'the input of a call is no object');
      return { id: string(id), name: string(name), arguments: input };
    }),
    citations: content.flatMap(({ citations }) =>
      objects(citations).flatMap(({ url, source }) => [url, source].filter((one) => typeof one === 'string')),
    ),
    finish: finishes[reason],
    usage: readUsage(message['usage']),
  };
}

/** Citations split a text into several blocks. */
function joinTexts(content: readonly JsonObject[]): string[] {
  const said: string[] = [];
  let isText = false;
  for (const { type, text } of content) {
    if (type === 'text') said.push((isText ? (said.pop() ?? '') : '') + string(text));
    isText = type === 'text';
  }
  return said;
}

function readUsage(usage: JsonValue | undefined): Counts | undefined {
  if (!isJsonObject(usage)) return undefined;
  const cached = number(usage['cache_read_input_tokens']) ?? 0;
  const written = number(usage['cache_creation_input_tokens']) ?? 0;
  return {
    input: (number(usage['input_tokens']) ?? 0) + cached + written,
    output: number(usage['output_tokens']),
    cached,
    written,
    reasoning: number(object(usage['output_tokens_details'])['thinking_tokens']),
  } as Counts;
}
