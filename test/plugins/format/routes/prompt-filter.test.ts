import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { completions } from '../../../../plugins/format/formats/completions/descriptor.ts';
import { openCall } from '../../../../plugins/format/routes/model-call.ts';
import { type TextFormat, textFormats } from '../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { modelOf } from '../catalog/catalog-fixture.ts';
import { refusalBy, streamEvent } from '../codec-fixture.ts';
import { exchange, requestOf } from '../invariants/fixture.ts';

const results = (filtered: boolean) => ({
  hate: { filtered: false, severity: 'safe' },
  violence: { filtered, severity: filtered ? 'high' : 'safe' },
  jailbreak: { filtered: false, detected: false },
});
const filterResults = (filtered: boolean) => [{ prompt_index: 0, content_filter_results: results(filtered) }];
const blank = { id: '', object: '', created: 0, model: '' };
const refused: JsonObject = { ...blank, choices: [], prompt_filter_results: filterResults(true) };
const passed: JsonObject = { ...blank, choices: [], prompt_filter_results: filterResults(false) };
const usage = { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 };
const done = 'data: [DONE]\n\n';

const asked: Readonly<Record<TextFormat, JsonObject>> = {
  chat: { messages: [{ role: 'user', content: 'go' }] },
  responses: { input: 'go' },
  messages: { max_tokens: 9, messages: [{ role: 'user', content: 'go' }] },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'go' }] }] },
};

/** The words of each format for an answer that its vendor has withheld. */
const words: Readonly<Record<TextFormat, string>> = {
  chat: '"finish_reason":"content_filter"',
  responses: '"incomplete_details":{"reason":"content_filter"}',
  messages: '"stop_reason":"refusal"',
  gemini: '"finishReason":"SAFETY"',
};

function readerOf(client: TextFormat, isStream: boolean) {
  const route = routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats: ['chat'] }));
  const request = requestOf(client, { model: 'test', ...asked[client], stream: isStream }).with({ isStream });
  const opened = openCall(exchange, modelOf('test', [], { routes: [route] }), request);
  return opened.read(opened.model.routes[0] ?? route);
}

function streamed(client: TextFormat, chunks: readonly JsonObject[], ending = done) {
  const reader = readerOf(client, true);
  const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('') + ending;
  const bytes = Buffer.concat([reader.push(Buffer.from(text)), reader.end()]);
  return { reader, text: bytes.toString() };
}

describe.each(textFormats)('a prompt that Azure’s filter refuses with status 200, for a client of %s', (client) => {
  it.each<[string, JsonObject]>([
    ['without choices', refused],
    ['with usage', { ...refused, usage }],
    ['without a list of choices', { ...blank, prompt_filter_results: filterResults(true) }],
    ['under the older name', { ...blank, choices: [], prompt_annotations: filterResults(true) }],
    [
      'with a choice that has nothing but its reason',
      { ...refused, choices: [{ index: 0, finish_reason: 'content_filter' }] },
    ],
  ])('is a refusal in a whole answer %s', (_name, body) => {
    const reader = readerOf(client, false);
    const { body: written } = reader.whole(Buffer.from(JSON.stringify(body)), 'application/json');
    expect(written.toString()).toContain(words[client]);
    expect(reader.isPolicyRefusal).toBe(true);
  });

  it.each<[string, JsonObject[], string]>([
    ['that ends', [refused], done],
    ['with usage', [refused, { ...blank, choices: [], usage }], done],
    ['that is closed without its end mark', [refused], ''],
  ])('is a refusal in a stream %s', (_name, chunks, ending) => {
    const { reader, text } = streamed(client, chunks, ending);
    expect(reader.failure).toBeUndefined();
    expect(text).toContain(words[client]);
    expect([reader.hasContent, reader.isComplete, reader.isPolicyRefusal]).toEqual([true, true, true]);
  });

  it('is the client’s error where it comes as one, whole and streamed', () => {
    const error = {
      message: 'The response was filtered.',
      type: null,
      param: 'prompt',
      code: 'content_filter',
      status: 400,
    };
    const expected = { code: 'upstream_rejected', details: { meaning: 'rejected', upstream: { status: 400 } } };
    const read = () => readerOf(client, false).whole(Buffer.from(JSON.stringify({ error })), 'application/json');
    expect(refusalBy(read)).toMatchObject(expected);
    expect(streamed(client, [{ error }]).reader.failure).toMatchObject(expected);
  });

  it('is a fault where the filter has let it pass and there is no answer', () => {
    const reader = readerOf(client, false);
    expect(() => reader.whole(Buffer.from(JSON.stringify(passed)), 'application/json')).toThrow();
    const { reader: stream } = streamed(client, [passed]);
    expect(stream.isPolicyRefusal).toBe(false);
    expect(stream.failure !== undefined || !stream.hasContent).toBe(true);
  });

  it('is an answer where the filter has let it pass and one follows', () => {
    const delta = { role: 'assistant', content: 'Hello' };
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
    const answer = { ...chunk, choices: [{ index: 0, delta, finish_reason: 'stop' }] };
    const { reader, text } = streamed(client, [passed, answer]);
    expect(text).toContain('Hello');
    expect([reader.isComplete, reader.isPolicyRefusal]).toEqual([true, false]);
  });
});

it('an answer whose prompt was refused has what Chat clients insist on', () => {
  const { body } = readerOf('chat', false).whole(Buffer.from(JSON.stringify(refused)), 'application/json');
  expect(JSON.parse(body.toString())).toMatchObject({
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'content_filter' }],
    prompt_filter_results: filterResults(true),
  });
});

it('a refused prompt of Completions is no fault of the route', () => {
  const whole = completions.client.createObserver({});
  whole.observeReply(refused);
  const stream = completions.client.createObserver({});
  stream.observeEvent(streamEvent(`data: ${JSON.stringify(refused)}\n\n`));
  const withheld = completions.client.createObserver({});
  withheld.observeReply({ choices: [{ index: 0, text: '', finish_reason: 'content_filter' }] });
  for (const one of [whole, stream, withheld])
    expect([one.hasContent, one.isComplete, one.isPolicyRefusal]).toEqual([true, true, true]);
});
