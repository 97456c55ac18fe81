import { GoogleGenAI } from '@google/genai';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startDemoUpstream } from '../../plugins/demo/server.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';

/*
 * Endpoints without conversations, called by the official SDKs. The first route of every model is broken and records what it
 * gets, so that the demo, which answers, gets each request after a failover.
 */

let demo: Awaited<ReturnType<typeof startDemoUpstream>>;
let broken: FaultyUpstream;
let google: FaultyUpstream;
let gateway: TestGateway;
let openai: OpenAI;
let genai: GoogleGenAI;

const kinds = {
  painter: ['image', 'images'],
  vectors: ['embedding', 'embeddings'],
  voice: ['speech', 'speech'],
  ears: ['transcription', 'transcriptions'],
  judge: ['moderation', 'moderations'],
  sorter: ['rerank', 'rerank'],
  coder: ['chat', 'completions'],
} as const;
const formats = `[${[...new Set(Object.values(kinds).map(([, format]) => format)), 'chat'].join(', ')}]`;

const answerGoogle: Handler = (request, response) => {
  const { requests } = request.json<{ requests?: unknown[] }>();
  const vector = { values: [0.5, -0.25] };
  response.json(200, requests === undefined ? { embedding: vector } : { embeddings: requests.map(() => vector) });
};

beforeAll(async () => {
  demo = await startDemoUpstream({ delayFactor: 0 });
  broken = await createUpstream((_request, response) => response.json(500, { error: { message: 'out of order' } }));
  google = await createUpstream(answerGoogle);
  const models = Object.entries(kinds).map(
    ([name, [kind]]) => `  ${name}: { kind: ${kind}, routes: [broken/${name}-there, demo/${name}-demo] }`,
  );
  gateway = await startGateway({
    yaml: `${wholePipeline.replace('upstream: {', 'upstream: { breaker: { failures: 1000, minimum_calls: 1000 },')}
upstreams:
  demo: { format: ${formats}, base_url: "${demo.baseUrl}" }
  broken: { format: ${formats}, base_url: "${broken.url}/v1" }
  codes: { format: completions, base_url: "${broken.url}/v1" }
  google: { format: [gemini, gemini-embeddings], base_url: "${google.url}/v1beta" }
models:
${models.join('\n')}
  talker: { routes: [demo/chatty] }
  filler: { routes: [codes/fill-there] }
  google-vectors: { kind: embedding, routes: [google/embed-there] }
  mixed-vectors: { kind: embedding, routes: [broken/embed-there, google/embed-there] }
`,
  });
  openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  genai = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url } });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await Promise.all([demo, broken, google].map((one) => one[Symbol.asyncDispose]()));
});

let before = 0;
beforeEach(() => {
  before = broken.requests.length;
});

/** What the broken route has got in this test. */
const sent = () => {
  const request = broken.requests[before];
  if (request === undefined) throw new Error('the first route was not asked');
  return request;
};

const recording = () => toFile(Buffer.from('RIFF\r\n--not a boundary\r\n\u0000audio'), 'speech.wav');

const signatures = (data: { b64_json?: string }[] = []) =>
  data.map(({ b64_json: text = '' }) => Buffer.from(text, 'base64').toString('latin1', 1, 4));

const askCached = () =>
  openai.embeddings
    .create({ model: 'vectors', input: 'cached' }, { headers: { 'x-service-cache': '60' } })
    .withResponse();

describe('the OpenAI SDK gets', () => {
  it('embeddings, as numbers although it asks for base64', async () => {
    const { data, model, usage } = await openai.embeddings.create({ model: 'vectors', input: ['a b', 'a b c'] });
    expect(data.map(({ embedding }) => embedding.length)).toEqual([256, 256]);
    expect(model).toBe('dp/vectors');
    expect(usage.prompt_tokens).toBeGreaterThan(0);
    expect(sent().json()).toMatchObject({ model: 'vectors-there', encoding_format: 'base64' });
  });

  it('an image, an edit and a variation', async () => {
    const made = await openai.images.generate({ model: 'painter', prompt: 'a lighthouse' });
    expect(signatures(made.data)).toEqual(['PNG']);
    const image = await toFile(Buffer.from('image bytes'), 'a.png', { type: 'image/png' });
    const edited = await openai.images.edit({ model: 'painter', image: [image, image], prompt: 'more blue', n: 2 });
    expect(signatures(edited.data)).toEqual(['PNG', 'PNG']);
    const varied = await openai.images.createVariation({ model: 'painter', image });
    expect(signatures(varied.data)).toEqual(['PNG']);
    const paths = broken.requests.slice(before).map(({ path }) => path);
    expect(paths).toEqual(['/v1/images/generations', '/v1/images/edits', '/v1/images/variations']);
  });

  it('a form with another name of the model, and every other byte as it was', async () => {
    const { text, usage } = await openai.audio.transcriptions.create({ file: await recording(), model: 'ears' });
    expect(text).toContain('demo upstream');
    expect(usage).toMatchObject({ type: 'tokens' });
    const form = await new Response(new Uint8Array(sent().body), {
      headers: { 'content-type': String(sent().headers['content-type']) },
    }).formData();
    expect(form.get('model')).toBe('ears-there');
    const file = form.get('file') as File;
    expect([file.name, await file.text()]).toEqual(['speech.wav', 'RIFF\r\n--not a boundary\r\n\u0000audio']);
  });

  it('subtitles, and a translation', async () => {
    const file = await recording();
    const subtitles = await openai.audio.transcriptions.create({ file, model: 'dp/ears', response_format: 'srt' });
    expect(subtitles).toMatch(/^1\n00:00/);
    const { text } = await openai.audio.translations.create({ file, model: 'ears' });
    expect(text).toContain('demo upstream');
  });

  it('a streamed transcription', async () => {
    const stream = await openai.audio.transcriptions.create({ file: await recording(), model: 'ears', stream: true });
    const events = await Array.fromAsync(stream);
    expect(events.map(({ type }) => type)).toEqual(['transcript.text.delta', 'transcript.text.done']);
  });

  it('speech as bytes, or as events', async () => {
    const ask = { model: 'voice', voice: 'alloy', input: 'Read this aloud' } as const;
    const answer = await openai.audio.speech.create(ask);
    expect(answer.headers.get('content-type')).toBe('audio/wav');
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.toString('latin1', 0, 4)).toBe('RIFF');
    expect(bytes.length).toBe(44 + bytes.readUInt32LE(40));
    const events = await (await openai.audio.speech.create({ ...ask, stream_format: 'sse' })).text();
    expect(events).toMatch(/speech\.audio\.delta[^]*speech\.audio\.done/);
  });

  it('moderations, and documents in order', async () => {
    const { results, model } = await openai.moderations.create({ model: 'judge', input: ['fine', '[[harmful]]'] });
    expect(results.map(({ flagged }) => flagged)).toEqual([false, true]);
    expect(model).toBe('dp/judge');
    const body = { model: 'sorter', query: 'cold tea', documents: ['hot soup', 'cold tea', 'tea'], top_n: 2 };
    const ranked = await openai.post<{ results: { index: number }[] }>('/rerank', { body });
    expect(ranked.results.map(({ index }) => index)).toEqual([1, 2]);
  });

  it('a completion between prompt and suffix, whole and streamed', async () => {
    const ask = { model: 'coder', prompt: 'function add(a, b) {', suffix: '}' } as const;
    const { choices, model } = await openai.completions.create(ask);
    expect([choices[0]?.text, model]).toEqual([expect.stringContaining('demo'), 'dp/coder']);
    expect(sent().json()).toMatchObject({ suffix: '}', model: 'coder-there' });
    const chunks = await Array.fromAsync(await openai.completions.create({ ...ask, stream: true }));
    expect(chunks.map((chunk) => chunk.choices[0]?.text).join('')).toBe(choices[0]?.text);
  });

  it('the number of tokens of a Responses request', async () => {
    const counted = await openai.responses.inputTokens.count({ model: 'talker', input: 'How many tokens is this?' });
    expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: expect.any(Number) });
    expect(counted.input_tokens).toBeGreaterThan(3);
  });

  it('embeddings of Google’s model', async () => {
    const { data, model } = await openai.embeddings.create({ model: 'mixed-vectors', input: 'hello', dimensions: 2 });
    expect(data.map(({ embedding }) => [...embedding])).toEqual([[0.5, -0.25]]);
    expect(model).toBe('dp/mixed-vectors');
    const request = google.requests.at(-1);
    expect(request?.path).toBe('/v1beta/models/embed-there:batchEmbedContents');
    expect(request?.json()).toEqual({
      requests: [{ model: 'models/embed-there', content: { parts: [{ text: 'hello' }] }, outputDimensionality: 2 }],
    });
  });
});

describe('the Google SDK gets', () => {
  it('embeddings of Google’s model', async () => {
    const contents = ['one', 'two'];
    const { embeddings } = await genai.models.embedContent({ model: 'google-vectors', contents });
    expect(embeddings?.map(({ values }) => values)).toEqual([
      [0.5, -0.25],
      [0.5, -0.25],
    ]);
    expect(google.requests.at(-1)?.json()).toMatchObject({ requests: [{ model: 'models/embed-there' }, {}] });
  });

  it('embeddings of an OpenAI endpoint', async () => {
    const { embeddings } = await genai.models.embedContent({
      model: 'vectors',
      contents: 'one',
      config: { outputDimensionality: 8, taskType: 'RETRIEVAL_QUERY' },
    });
    expect(embeddings?.map(({ values = [] }) => values.length)).toEqual([8]);
    expect(sent().json()).toEqual({ model: 'vectors-there', input: ['one'], encoding_format: 'float', dimensions: 8 });
  });

  it('a single embedding', async () => {
    const response = await fetch(`${gateway.url}/v1beta/models/dp/vectors:embedContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
      body: JSON.stringify({ content: { parts: [{ text: 'one' }] }, taskType: 'CLUSTERING' }),
    });
    expect(response.headers.get('x-daypass-notes')).toBe('dropped taskType');
    expect(await response.json()).toEqual({
      embedding: { values: expect.any(Array) },
      usageMetadata: { promptTokenCount: expect.any(Number) },
    });
  });
});

describe('a model on the wrong endpoint', () => {
  it.each<[string, string, object, RegExp]>([
    [
      'an image from a chat model',
      '/v1/images/generations',
      { model: 'talker', prompt: 'a' },
      /POST \/v1\/chat\/compl/,
    ],
    [
      'a chat with an image model',
      '/v1/chat/completions',
      { model: 'painter', messages: [{ role: 'user', content: 'a' }] },
      /POST \/v1\/images\/gener/,
    ],
    [
      'a message to a speech model',
      '/v1/messages',
      { model: 'voice', max_tokens: 5, messages: [] },
      /POST \/v1\/audio\/speech/,
    ],
    ['embeddings of a chat model in Gemini', '/v1beta/models/talker:embedContent', { content: {} }, /:generateContent/],
    [
      'a chat with a model that only completes',
      '/v1/chat/completions',
      { model: 'filler', messages: [{ role: 'user', content: 'a' }] },
      /Use POST \/v1\/completions\./,
    ],
    [
      'a completion without an endpoint for it',
      '/v1/completions',
      { model: 'google-vectors', prompt: 'a' },
      /\/v1\/embeddings/,
    ],
  ])('is refused with 400 and the right ones: %s', async (_, path, body, message) => {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toMatch(message);
  });

  it('is refused for a form, too', async () => {
    const refused = openai.audio.transcriptions.create({ file: await recording(), model: 'talker' });
    await expect(refused).rejects.toThrow(/Model "talker" is for conversations\. Use POST/);
  });
});

it('requests of every kind are recorded with endpoint, model and route', async () => {
  await openai.audio.transcriptions.create({ file: await recording(), model: 'ears' });
  await expect
    .poll(async () => {
      const rows = await gateway.database.query<{ endpoint: string; model: string; route: string }>(
        "select endpoint, model, route from request_log where endpoint = 'transcriptions' limit 1",
      );
      return rows[0];
    })
    .toEqual({ endpoint: 'transcriptions', model: 'dp/ears', route: 'demo/ears-demo' });
});

it('a cached embedding needs no second call', async () => {
  const first = await askCached();
  const count = broken.requests.length;
  const second = await askCached();
  expect(second.response.headers.get('x-service-cache')).toBe('hit');
  expect(second.data).toEqual(first.data);
  expect(broken.requests.length).toBe(count);
});
