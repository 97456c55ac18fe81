import type { TextFormat } from '../../support/formats.ts';

/** The parts of an answer of which a stream can be cut at every place, as an upstream of the format sends them. */
export interface StreamParts {
  readonly whole: object;
  /** Before any content. */
  readonly opening: readonly string[];
  readonly content: readonly string[];
  readonly closing: readonly string[];
}

const event = (data: object, name?: string) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
const named = (type: string, members: object) => event({ type, ...members }, type);

const chunk = (delta: object, finish: string | null = null) =>
  event({
    id: 'c1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });

const message = { id: 'm1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null };
const part = { type: 'output_text', text: 'one two', annotations: [] };
const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] };
const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] };
const completed = {
  ...response,
  status: 'completed',
  output: [item],
  usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
};
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const candidate = (text: string, finish: object = {}) => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...finish }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
});

export const answers: Readonly<Record<TextFormat, StreamParts>> = {
  chat: {
    whole: {
      id: 'c1',
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'one two' }, finish_reason: 'stop' }],
    },
    opening: [chunk({ role: 'assistant', content: '' })],
    content: [chunk({ content: 'one ' }), chunk({ content: 'two' })],
    closing: [chunk({}, 'stop'), 'data: [DONE]\n\n'],
  },
  messages: {
    whole: {
      ...message,
      content: [{ type: 'text', text: 'one two' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 2 },
    },
    opening: [
      named('message_start', {
        message: { ...message, content: [], stop_reason: null, usage: { input_tokens: 1, output_tokens: 0 } },
      }),
      named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ],
    content: ['one ', 'two'].map((text) =>
      named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    ),
    closing: [
      named('content_block_stop', { index: 0 }),
      named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
      named('message_stop', {}),
    ],
  },
  responses: {
    whole: completed,
    opening: [
      named('response.created', { sequence_number: 0, response }),
      named('response.output_item.added', { sequence_number: 1, output_index: 0, item: { ...item, content: [] } }),
    ],
    content: ['one ', 'two'].map((delta, index) =>
      named('response.output_text.delta', { sequence_number: 2 + index, ...place, delta }),
    ),
    closing: [
      named('response.output_item.done', { sequence_number: 4, output_index: 0, item }),
      named('response.completed', { sequence_number: 5, response: completed }),
    ],
  },
  gemini: {
    whole: candidate('one two', { finishReason: 'STOP' }),
    opening: [event({ usageMetadata: { promptTokenCount: 1 }, responseId: 'r1' })],
    content: [event(candidate('one '))],
    closing: [event(candidate('two', { finishReason: 'STOP' }))],
  },
};

/** What upstreams of a format say when they fail inside a stream. */
export const failureEvents: Readonly<Record<TextFormat, (error: object) => string>> = {
  chat: (error) => event({ error }),
  gemini: (error) => event({ error }),
  messages: (error) => named('error', { error }),
  responses: (error) =>
    named('response.failed', { sequence_number: 9, response: { ...response, status: 'failed', error } }),
};
