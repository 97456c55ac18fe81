import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/** An endpoint that imitates Responses and leaves out what it can: the events and answers of the running test. */
let answer: { readonly events: readonly object[]; readonly whole: object; readonly endsLater?: boolean };
let upstream: FaultyUpstream;
let gateway: TestGateway;
let openai: OpenAI;

beforeAll(async () => {
  upstream = await createUpstream(async (request, response) => {
    if (request.json<{ stream?: boolean }>().stream !== true) return response.json(200, answer.whole);
    response.sse(...answer.events);
    if (answer.endsLater === true) await response.passedOn();
    return response.end();
  });
  const yaml = [
    'pipeline: [auth, format, upstream, log]',
    `upstreams: { thin: { format: responses, base_url: "${upstream.url}/v1" } }`,
    'models: { thin: { routes: [thin/m] } }',
    '',
  ].join('\n');
  gateway = await startGateway({ yaml });
  openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});

const text = (delta: string) => ({ type: 'response.output_text.delta', delta });
const tools = [{ type: 'function' as const, name: 'f', parameters: { type: 'object', properties: {} }, strict: false }];
const words = {
  events: [
    { type: 'response.heartbeat' },
    text('Hel'),
    text('lo'),
    { type: 'response.completed', response: { status: 'completed', output: [] } },
  ],
  whole: { output: [{ content: 'Hello' }] },
};
const calls = {
  events: [
    { type: 'response.reasoning.delta', delta: 'Hm.' },
    { type: 'response.function_call_arguments.delta', delta: '{"a":' },
    { type: 'response.function_call_arguments.delta', delta: '1}' },
    { type: 'response.output_item.done', item: { type: 'function_call', call_id: 'c1', name: 'f' } },
    { type: 'response.output_item.done', item: { type: 'function_call', call_id: 'c2', name: 'f', arguments: '' } },
    { type: 'response.done', response: { id: 'r1' } },
  ],
  whole: {
    status: 'completed',
    output: [
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm.' }] },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: { a: 1 } },
      { type: 'function_call', name: 'f', id: 'c2', arguments: null },
    ],
  },
};

describe('the openai SDK with a thin Responses endpoint', () => {
  it('reads the text of a stream', async () => {
    answer = words;
    const final = await openai.responses.stream({ model: 'thin', input: 'hi', store: false }).finalResponse();
    expect(final).toMatchObject({
      status: 'completed',
      output_text: 'Hello',
      usage: { total_tokens: expect.any(Number) },
    });
  });

  it('reads the text of a whole answer', async () => {
    answer = words;
    const whole = await openai.responses.create({ model: 'thin', input: 'hi', store: false });
    expect(whole).toMatchObject({ object: 'response', status: 'completed', output_text: 'Hello', tools: [] });
    expect(whole.output).toMatchObject([{ type: 'message', role: 'assistant', status: 'completed' }]);
    expect(whole.id).toMatch(/^resp_/);
  });

  it.each(['streamed', 'whole'])('gets calls that it can answer, %s', async (way) => {
    answer = calls;
    const body = { model: 'thin', input: 'hi', store: false, tools };
    const final =
      way === 'whole' ? await openai.responses.create(body) : await openai.responses.stream(body).finalResponse();
    const call = { type: 'function_call', name: 'f', status: 'completed', id: expect.stringMatching(/./) };
    expect(final.output).toMatchObject([
      { type: 'reasoning', content: [{ text: 'Hm.' }], summary: [] },
      { ...call, call_id: 'c1', arguments: '{"a":1}' },
      { ...call, call_id: 'c2', arguments: '{}' },
    ]);
  });

  it('gets the events that Codex and OpenCode wait for, numbered', async () => {
    answer = words;
    const stream = await openai.responses.create({ model: 'thin', input: 'hi', store: false, stream: true });
    const events = await Array.fromAsync(stream);
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map((event) => 'sequence_number' in event && event.sequence_number)).toEqual([...events.keys()]);
  });

  it('reads the description of the text format that it requested', async () => {
    const schema = { type: 'object', properties: {}, required: [], additionalProperties: false };
    const format = { type: 'json_schema' as const, name: 'x', schema, strict: true };
    answer = { ...words, whole: { ...words.whole, text: { format: { ...format, description: null } } } };
    const asked = { ...format, description: 'What it is.' };
    const whole = await openai.responses.create({ model: 'thin', input: 'hi', store: false, text: { format: asked } });
    expect(whole.text?.format).toEqual(asked);
  });

  it.each(['streamed', 'whole'])('continues an answer that was stored, %s', async (way) => {
    answer = words;
    const body = { model: 'thin', input: 'hi' };
    const first =
      way === 'whole' ? await openai.responses.create(body) : await openai.responses.stream(body).finalResponse();
    const stored = await openai.responses.retrieve(first.id);
    expect(stored.output_text).toBe('Hello');
    expect(stored.output).toEqual(plain(first.output));
    await openai.responses.create({ ...body, input: 'more', previous_response_id: first.id });
    const { input } = upstream.requests.at(-1)?.json<{ input: object[] }>() ?? { input: [] };
    expect(input).toMatchObject([{ content: 'hi' }, { content: [{ text: 'Hello' }] }, { content: 'more' }]);
  });

  it('gets the received text and an error when the stream breaks off', async () => {
    answer = { ...words, events: words.events.slice(0, -1), endsLater: true };
    const stream = await openai.responses.create({ model: 'thin', input: 'hi', store: false, stream: true });
    let received = '';
    const reading = async () => {
      for await (const event of stream) if (event.type === 'response.output_text.delta') received += event.delta;
    };
    await expect(reading()).rejects.toMatchObject({ code: 'server_error', type: 'server_error' });
    expect(received).toBe('Hello');
  });
});

/** The helper adds what it has parsed. */
function plain(output: readonly object[]): unknown {
  return JSON.parse(JSON.stringify(output, (name, value: unknown) => (name === 'parsed' ? undefined : value)));
}
