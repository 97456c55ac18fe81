import type { RecordedRequest } from '../support/faulty-upstream.ts';

/** Formats of clients and upstreams in the chaos run. */
export const chaosFormats = ['chat', 'responses', 'messages', 'gemini'] as const;

export type ChaosFormat = (typeof chaosFormats)[number];

/** The formats, one after the other. */
export function formatAt(turn: number): ChaosFormat {
  return chaosFormats[turn % chaosFormats.length] ?? 'chat';
}

/** A request. Gemini puts model and streaming into the path, the other formats into the body. */
export interface ChaosRequest {
  readonly format: ChaosFormat;
  readonly model: string;
  readonly isStream: boolean;
}

const paths = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' } as const;

/** The path of a client's request. */
export function pathOf({ format, model, isStream }: ChaosRequest): string {
  if (format !== 'gemini') return paths[format];
  return `/v1beta/models/${encodeURIComponent(model)}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
}

/** The request that reached an upstream. */
export function readAsked({ path, json }: RecordedRequest): ChaosRequest {
  const [, name, method] = /\/models\/([^:]+):(\w+)/.exec(path) ?? [];
  if (name !== undefined) {
    return { format: 'gemini', model: decodeURIComponent(name), isStream: method === 'streamGenerateContent' };
  }
  const format = chaosFormats.find((one) => one !== 'gemini' && path === paths[one]) ?? 'chat';
  const { model, stream = false } = json<{ model: string; stream?: boolean }>();
  return { format, model, isStream: stream };
}

/** An event of a stream, as `ScriptedResponse.event` writes it. */
export interface AnswerEvent {
  readonly name?: string;
  readonly data: object | string;
}

/** One answer in one format, whole and as a stream cut into its parts. */
export interface Answer {
  readonly whole: object;
  /** Events before the first content. */
  readonly opening: readonly AnswerEvent[];
  readonly words: readonly AnswerEvent[];
  readonly closing: readonly AnswerEvent[];
  /** What an upstream of this format sends when it fails inside a stream. */
  readonly failure: AnswerEvent;
}

const wordCount = 6;

/**
 * An answer whose words name their answer and their position: `fine-17.0 fine-17.1 …`. So the text that a client has
 * read shows which answers it came from.
 */
export function writeAnswer(format: ChaosFormat, id: string): Answer {
  const words = Array.from({ length: wordCount }, (_, index) => `${id}.${index} `);
  return writeWords(format, id, words);
}

/** An answer of these words. */
export function writeWords(format: ChaosFormat, id: string, words: readonly string[]): Answer {
  return writers[format](id, words);
}

/** Which answers the words of a text came from. */
export interface Provenance {
  /** The answers, each once, in order of appearance. */
  readonly answers: readonly string[];
  /** True when the words of each answer begin with its first and none is missing. */
  readonly isInOrder: boolean;
}

export function readProvenance(text: string): Provenance {
  const next = new Map<string, number>();
  let isInOrder = true;
  for (const word of text.split(' ')) {
    if (word === '') continue;
    const [, id = word, place = ''] = /^(.*)\.(\d+)$/.exec(word) ?? [];
    const expected = next.get(id) ?? 0;
    if (Number(place) !== expected) isInOrder = false;
    next.set(id, expected + 1);
  }
  return { answers: [...next.keys()], isInOrder };
}

const named = (type: string, members: object): AnswerEvent => ({ name: type, data: { type, ...members } });

type Writer = (id: string, words: readonly string[]) => Answer;

const writers: Readonly<Record<ChaosFormat, Writer>> = {
  chat(id, words) {
    const chunk = (delta: object, finish: string | null = null) => ({
      data: {
        id,
        object: 'chat.completion.chunk',
        created: 1,
        model: 'there',
        choices: [{ index: 0, delta, finish_reason: finish }],
      },
    });
    const message = { role: 'assistant', content: words.join(''), refusal: null };
    return {
      whole: {
        id,
        object: 'chat.completion',
        created: 1,
        model: 'there',
        choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }],
        usage: { prompt_tokens: 3, completion_tokens: words.length, total_tokens: 3 + words.length },
      },
      opening: [chunk({ role: 'assistant', content: '' })],
      words: words.map((content) => chunk({ content })),
      closing: [chunk({}, 'stop'), { data: '[DONE]' }],
      failure: { data: { error: { message: 'the model has crashed', type: 'server_error', code: null, param: null } } },
    };
  },

  messages(id, words) {
    const message = { id, type: 'message', role: 'assistant', model: 'there', stop_sequence: null };
    const usage = { input_tokens: 3, output_tokens: words.length };
    return {
      whole: { ...message, content: [{ type: 'text', text: words.join('') }], stop_reason: 'end_turn', usage },
      opening: [
        named('message_start', {
          message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
        }),
        named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      ],
      words: words.map((text) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
      closing: [
        named('content_block_stop', { index: 0 }),
        named('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }),
        named('message_stop', {}),
      ],
      failure: named('error', { error: { type: 'api_error', message: 'the model has crashed' } }),
    };
  },

  gemini(id, words) {
    const usageMetadata = {
      promptTokenCount: 3,
      candidatesTokenCount: words.length,
      totalTokenCount: 3 + words.length,
    };
    const reply = (text: string, finish: object) => ({
      candidates: [{ content: { role: 'model', parts: [{ text }] }, ...finish, index: 0 }],
      ...(Object.keys(finish).length > 0 && { usageMetadata }),
      modelVersion: 'there',
      responseId: id,
    });
    const stop = { finishReason: 'STOP' };
    return {
      whole: reply(words.join(''), stop),
      opening: [{ data: { usageMetadata: { promptTokenCount: 3 }, modelVersion: 'there', responseId: id } }],
      words: words.map((text) => ({ data: reply(text, {}) })),
      closing: [{ data: reply('', stop) }],
      failure: { data: { error: { code: 500, message: 'the model has crashed', status: 'INTERNAL' } } },
    };
  },

  responses(id, words) {
    const text = words.join('');
    const part = { type: 'output_text', text, annotations: [], logprobs: [] };
    const item = { id: `msg_${id}`, type: 'message', role: 'assistant', status: 'completed', content: [part] };
    const response = (status: string, members: object) => ({
      id: `resp_${id}`,
      object: 'response',
      created_at: 1,
      model: 'there',
      status,
      error: null,
      incomplete_details: null,
      output: [],
      ...members,
    });
    const over = response('completed', {
      output: [item],
      usage: {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: words.length,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 3 + words.length,
      },
    });
    let number = 0;
    const numbered = (type: string, members: object) => named(type, { sequence_number: number++, ...members });
    const place = { item_id: item.id, output_index: 0, content_index: 0 };
    const empty = { ...part, text: '' };
    return {
      whole: over,
      opening: [
        numbered('response.created', { response: response('in_progress', {}) }),
        numbered('response.output_item.added', {
          output_index: 0,
          item: { ...item, status: 'in_progress', content: [] },
        }),
        numbered('response.content_part.added', { ...place, part: empty }),
      ],
      words: words.map((delta) => numbered('response.output_text.delta', { ...place, delta, logprobs: [] })),
      closing: [
        numbered('response.output_text.done', { ...place, text, logprobs: [] }),
        numbered('response.content_part.done', { ...place, part }),
        numbered('response.output_item.done', { output_index: 0, item }),
        numbered('response.completed', { response: over }),
      ],
      failure: numbered('response.failed', {
        response: response('failed', { error: { code: 'server_error', message: 'the model has crashed' } }),
      }),
    };
  },
};
