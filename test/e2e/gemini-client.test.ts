import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { answerAbly } from '../support/able-model.ts';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';
import { createGeminiUpstream, ownSignature } from '../support/gemini-upstream.ts';

let upstream: FaultyUpstream;
let google: FaultyUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await createUpstream((request, response) => {
    const answer = answerAbly(request.json<JsonObject>());
    if (request.json<JsonObject>()['stream'] !== true) return response.json(200, answer.whole());
    response.sse(...answer.chunks());
    return response.end();
  });
  google = await createGeminiUpstream();
  const yaml = `${wholePipeline}
upstreams:
  able: { format: chat, base_url: "${upstream.url}/v1" }
  google: { vendor: gemini, base_url: "${google.url}/v1beta", api_keys: [key-there] }
models:
  chat: { routes: [able/chatty] }
  gemini: { routes: [google/gemini-3-there] }
`;
  gateway = await startGateway({ yaml });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await google[Symbol.asyncDispose]();
});

function call(model: string, method: string, body: JsonObject, key: string = gateway.key): Promise<Response> {
  return fetch(`${gateway.url}/v1beta/models/${model}:${method}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

const get = (path: string, key = gateway.key) => fetch(`${gateway.url}${path}`, { headers: { 'x-goog-api-key': key } });

interface Reply {
  readonly candidates: readonly { content: { parts: JsonObject[] }; finishReason?: string }[];
  readonly usageMetadata: { promptTokenCount: number; totalTokenCount: number };
  readonly modelVersion: string;
}

/** The chunks of an answer, streamed or whole. */
async function ask(model: string, isStream: boolean, body: JsonObject): Promise<Reply[]> {
  const response = await call(model, isStream ? 'streamGenerateContent?alt=sse' : 'generateContent', body);
  expect(response.status, await response.clone().text()).toBe(200);
  const text = await response.text();
  if (!isStream) return [JSON.parse(text) as Reply];
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => JSON.parse(block.replace(/^data: /, '')) as Reply);
}

const partsOf = (chunks: readonly Reply[]) => chunks.flatMap(({ candidates }) => candidates[0]?.content.parts ?? []);
const textOf = (parts: readonly JsonObject[]) =>
  parts.flatMap((part) => (part['thought'] === true || part['text'] === undefined ? [] : [part['text']])).join('');
const user = (...parts: JsonObject[]): JsonObject => ({ role: 'user', parts });
const functionDeclarations = ['get_weather', 'get_time'].map((name) => ({
  name,
  description: name,
  parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } }, required: ['city'] },
}));

describe('a Gemini client on a Chat route', () => {
  const model = 'dp/chat';

  describe.each([true, false])('streaming: %s', (isStream) => {
    it('gets text, a finish reason and token counts', async () => {
      const chunks = await ask(model, isStream, {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [user({ text: 'good evening' })],
        generationConfig: { temperature: 0, thinkingConfig: { includeThoughts: true, thinkingBudget: -1 } },
      });
      expect(textOf(partsOf(chunks))).toContain('good evening');
      expect(chunks.at(-1)?.candidates[0]?.finishReason).toBe('STOP');
      expect(chunks.at(-1)?.usageMetadata.promptTokenCount).toBeGreaterThan(0);
      for (const { usageMetadata, modelVersion } of chunks) {
        expect(usageMetadata.promptTokenCount).toBeGreaterThanOrEqual(0);
        expect(modelVersion).toBe(model);
      }
    });

    it('calls tools and returns their results', async () => {
      const question = user({ text: 'call get_weather for Jakarta' });
      const tools = [{ functionDeclarations }];
      const first = partsOf(await ask(model, isStream, { contents: [question], tools }));
      const calls = first.flatMap((part) =>
        part['functionCall'] === undefined ? [] : [part['functionCall'] as JsonObject],
      );
      expect(calls[0]).toMatchObject({
        id: expect.any(String),
        name: 'get_weather',
        args: { city: expect.any(String) },
      });
      const results = calls.map(({ id, name }) => ({
        functionResponse: { id, name, response: { output: 'thirty degrees' } },
      }));
      const contents = [question, { role: 'model', parts: first }, user(...results)];
      const second = await ask(model, isStream, { contents, tools });
      expect(textOf(partsOf(second))).toContain('thirty degrees');
    });

    it('gets JSON that satisfies its schema', async () => {
      const responseSchema = { type: 'OBJECT', properties: { city: { type: 'STRING' } }, required: ['city'] };
      const generationConfig = { responseMimeType: 'application/json', responseSchema };
      const chunks = await ask(model, isStream, { contents: [user({ text: 'where?' })], generationConfig });
      expect(JSON.parse(textOf(partsOf(chunks)))).toMatchObject({ city: expect.any(String) });
    });
  });

  it.each([
    ['its public name', 'dp%2Fchat'],
    ['its short name', 'chat'],
  ])('gets the public name of a model that it calls by %s', async (_name, requested) => {
    const [{ modelVersion } = { modelVersion: '' }] = await ask(requested, false, { contents: [user({ text: 'hi' })] });
    expect(modelVersion).toBe('dp/chat');
  });

  it('gets one JSON array when it does not ask for events', async () => {
    const response = await call(model, 'streamGenerateContent', { contents: [user({ text: 'good evening' })] });
    expect(response.headers.get('content-type')).toContain('application/json');
    const chunks = (await response.json()) as Reply[];
    expect(chunks.length).toBeGreaterThan(1);
    expect(textOf(partsOf(chunks))).toContain('good evening');
    expect(chunks.at(-1)?.candidates[0]?.finishReason).toBe('STOP');
  });

  it('gets errors in the format of Gemini', async () => {
    const contents = [user({ text: 'hi' })];
    const wrong = await call(model, 'generateContent', { contents: [{ role: 'system', parts: [] }] });
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } });
    const unknown = await call(`${model}-not`, 'generateContent', { contents });
    expect(await unknown.json()).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
    const stranger = await call(model, 'generateContent', { contents }, 'dp-wrong');
    expect(await stranger.json()).toMatchObject({ error: { code: 401, status: 'UNAUTHENTICATED' } });
  });

  it('gets a token count of its request', async () => {
    const counted = await call(model, 'countTokens', { contents: [user({ text: 'good evening to you all' })] });
    expect(await counted.json()).toEqual({ totalTokens: expect.any(Number) });
  });
});

const resultsOf = (parts: readonly JsonObject[]) =>
  user(
    ...parts.flatMap(({ functionCall }) => {
      if (functionCall === undefined) return [];
      const { id, name } = functionCall as JsonObject;
      return [{ functionResponse: { id, name, response: { output: 'done' } } }];
    }),
  );

it('a JSON array begins before the upstream has sent anything', async () => {
  const hasBegun = Promise.withResolvers<void>();
  await using slow = await createUpstream(async (_request, response) => {
    await hasBegun.promise;
    response.sse({ candidates: [{ content: { role: 'model', parts: [{ text: 'Late.' }] }, finishReason: 'STOP' }] });
    response.end();
  });
  const yaml = `${wholePipeline.replace('first_byte_timeout: 5', 'keep_alive_after: 0.1')}
upstreams: { google: { vendor: gemini, base_url: "${slow.url}/v1beta", api_keys: [key-there] } }
models: { gemini: { routes: [google/gemini-3-there] } }
`;
  await using keptAlive = await startGateway({ yaml });
  const response = await fetch(`${keptAlive.url}/v1beta/models/gemini:streamGenerateContent`, {
    method: 'POST',
    headers: { 'x-goog-api-key': keptAlive.key, 'content-type': 'application/json' },
    body: JSON.stringify({ contents: [user({ text: 'Say it.' })] }),
  });
  hasBegun.resolve();
  expect(response.headers.get('content-type')).toContain('application/json');
  expect(response.headers.get('x-accel-buffering')).toBe('no');
  expect(textOf(partsOf((await response.json()) as Reply[]))).toBe('Late.');
});

describe.each([true, false])('a Gemini client whose route changes, streaming: %s', (isStream) => {
  const tools = [{ functionDeclarations }];

  it('returns Google’s signatures to Google only', async () => {
    const question = user({ text: `call get_weather for ${isStream}` });
    const first = partsOf(await ask('gemini', isStream, { contents: [question], tools }));
    const second = [question, { role: 'model', parts: first }, resultsOf(first)];
    expect(textOf(partsOf(await ask('gemini', isStream, { contents: second, tools })))).toBe('Grüße you');
    const [, answer] = google.requests.at(-1)?.json<{ contents: { parts: JsonObject[] }[] }>().contents ?? [];
    expect(answer?.parts.map((part) => part['thoughtSignature']).filter(Boolean)).toEqual([ownSignature]);
    expect(textOf(partsOf(await ask('chat', isStream, { contents: second, tools })))).toContain('done');
  });

  it('continues at Google after calls that came from a Chat route', async () => {
    const question = user({ text: 'call get_weather for Jakarta' });
    const generationConfig = { thinkingConfig: { thinkingBudget: 2_000 } };
    const first = partsOf(await ask('chat', isStream, { contents: [question], tools, generationConfig }));
    const second = [question, { role: 'model', parts: first }, resultsOf(first)];
    expect(textOf(partsOf(await ask('gemini', isStream, { contents: second, tools })))).toBe('Grüße you');
  });
});

describe('the catalog in the format of Gemini', () => {
  it('is listed', async () => {
    const { models } = (await (await get('/v1beta/models?pageSize=50')).json()) as { models: { name: string }[] };
    expect(models.map(({ name }) => name)).toEqual(['models/dp/chat', 'models/dp/gemini']);
  });

  it('is the same under /v1, which newer Google clients use', async () => {
    for (const path of ['models', 'models/dp/gemini'])
      expect(await (await get(`/v1/${path}`)).json()).toEqual(await (await get(`/v1beta/${path}`)).json());
  });

  it.each(['dp/gemini', 'dp%2Fgemini', 'gemini'])('has a model at the path %s', async (id) => {
    expect(await (await get(`/v1beta/models/${id}`)).json()).toMatchObject({ name: 'models/dp/gemini' });
  });

  it.each([
    ['with a wrong key', '/v1beta/models', 'wrong', 401, 'UNAUTHENTICATED'],
    ['for an unknown model', '/v1beta/models/nobody', undefined, 404, 'NOT_FOUND'],
  ])('refuses a request %s', async (_case, path, key, code, status) => {
    expect(await (await get(path, key)).json()).toMatchObject({ error: { code, status } });
  });
});

function postTo(path: string): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
    body: JSON.stringify({ contents: [user({ text: 'hi' })] }),
  });
}

describe('a path of another of Google’s APIs', () => {
  it.each([
    '/v1alpha/models/dp/gemini',
    '/v1beta1/publishers/google/models/gemini',
    '/v1beta1/publishers/dp/models/gemini',
  ])('a model answers at %s', async (path) => {
    expect((await postTo(`${path}:generateContent`)).status).toBe(200);
  });

  it.each(['/upload/v1/files', '/upload/v1beta/files'])(
    'a file that is sent to %s is refused with a reason',
    async (path) => {
      const response = await postTo(`${path}?uploadType=resumable`);
      const error = { code: 404, message: expect.stringContaining('does not store files'), status: 'NOT_FOUND' };
      expect([response.status, await response.json()]).toMatchObject([404, { error }]);
    },
  );
});
