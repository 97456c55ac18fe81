import type { JsonObject } from '#core/json.ts';
import type { Answer, StreamEvent, Work } from './answer.ts';
import { errorBody } from './error-body.ts';
import { createIdentity, opaqueState } from './identity.ts';
import { readMessagesPrompt } from './messages-prompt.ts';
import { BadRequest, lastUserText, member, readLimit } from './prompt.ts';
import { joinTokens, type Part, type Script, writeScript } from './script.ts';

const stopReasons = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' } as const;

const failures = {
  failure: (message: string) => errorBody('anthropic', 500, message),
  failureEvent: (message: string): StreamEvent => ({ name: 'error', data: errorBody('anthropic', 500, message) }),
};

/** Messages. Source: Anthropic API reference, "Messages" and "Streaming Messages". */
export function answerMessages(body: JsonObject): Answer {
  const maxTokens = readLimit(body, 'max_tokens');
  if (maxTokens === undefined) throw new BadRequest('max_tokens: field required');
  const prompt = readMessagesPrompt(body, maxTokens);
  const script = writeScript(prompt);
  const { id } = createIdentity();
  const hidesThinking = member(body['thinking'], 'display') === 'omitted';
  const blocks = script.parts.map((part, index) => new Block(part, `${id}${index}`, hidesThinking));
  const message = (content: object[], end: object, usage: object) => ({
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model: prompt.model,
    content,
    ...end,
    usage,
  });
  const ending = { stop_reason: stopReasons[script.finish], stop_sequence: null };
  const opening = { stop_reason: null, stop_sequence: null };
  return {
    model: prompt.model,
    text: lastUserText(prompt),
    isStream: prompt.isStream,
    whole: () =>
      message(
        blocks.map((block) => block.whole()),
        ending,
        writeUsage(script, script.usage.output),
      ),
    events: () => [
      event('message_start', { message: message([], opening, writeUsage(script, 1)) }, 'start'),
      event('ping', {}),
      ...blocks.flatMap((block, index) => [
        event('content_block_start', { index, content_block: block.opening() }),
        ...block.deltas().map(({ delta, after }) => event('content_block_delta', { index, delta }, after)),
        event('content_block_stop', { index }),
      ]),
      event('message_delta', { delta: ending, usage: writeUsage(script, script.usage.output) }),
      event('message_stop', {}),
    ],
    ...failures,
  };
}

/** `POST /v1/messages/count_tokens`: about a token for four characters. */
export function countMessages(body: JsonObject): Answer {
  const prompt = readMessagesPrompt(body, undefined);
  return {
    model: prompt.model,
    text: lastUserText(prompt),
    isStream: false,
    whole: () => ({ input_tokens: prompt.inputTokens }),
    events: () => [],
    ...failures,
  };
}

function event(type: string, members: object, after?: Work): StreamEvent {
  return { name: type, data: { type, ...members }, ...(after && { after }) };
}

/** One content block, as it begins, grows and is in the end. */
class Block {
  readonly #part: Part;
  readonly #id: string;
  readonly #hidesThinking: boolean;

  constructor(part: Part, id: string, hidesThinking: boolean) {
    this.#part = part;
    this.#id = id;
    this.#hidesThinking = hidesThinking;
  }

  opening(): object {
    switch (this.#part.type) {
      case 'reasoning':
        return { type: 'thinking', thinking: '', signature: '' };
      case 'text':
        return { type: 'text', text: '', citations: null };
      case 'tool_call':
        return { type: 'tool_use', id: `toolu_${this.#id}`, name: this.#part.tool.name, input: {} };
    }
  }

  whole(): object {
    const text = joinTokens(this.#part);
    switch (this.#part.type) {
      case 'reasoning':
        return { type: 'thinking', thinking: this.#hidesThinking ? '' : text, signature: opaqueState(this.#id) };
      case 'text':
        return { ...this.opening(), text };
      case 'tool_call':
        return { ...this.opening(), input: JSON.parse(text) as unknown };
    }
  }

  deltas(): { readonly delta: object; readonly after: Work }[] {
    const { type, tokens } = this.#part;
    if (type === 'text') return tokens.map((text) => ({ delta: { type: 'text_delta', text }, after: 'token' }));
    if (type === 'tool_call')
      return tokens.map((json) => ({ delta: { type: 'input_json_delta', partial_json: json }, after: 'token' }));
    const shown = this.#hidesThinking ? [] : tokens;
    return [
      ...shown.map((thinking, index) => ({
        delta: { type: 'thinking_delta', thinking },
        after: index === 0 ? ('thinking' as const) : ('token' as const),
      })),
      { delta: { type: 'signature_delta', signature: opaqueState(this.#id) }, after: 'token' },
    ];
  }
}

function writeUsage({ usage }: Script, output: number): object {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
    service_tier: 'standard',
  };
}
