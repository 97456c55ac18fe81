import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUpstream, type FaultyUpstream, type Handler } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';

/** What the first route does, by the model that it is asked for. */
const faults: Readonly<Record<string, Handler>> = {
  page: (_request, response) => response.send(200, { 'content-type': 'text/html' }, '<html>Sign in</html>'),
  error: (_request, response) => response.json(200, { error: { message: 'out of order', type: 'server_error' } }),
  empty: (_request, response) => response.send(200, { 'content-type': 'audio/mpeg' }, ''),
  cut: async (_request, response) => {
    response.head(200, { 'content-type': 'audio/mpeg' });
    await response.write(Buffer.alloc(1_000, 1));
    await response.passedOn();
    response.cut();
  },
};

const routes = (model: string) => `routes: [first/${model}, second/there]`;

let first: FaultyUpstream;
let second: FaultyUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  first = await createUpstream((request, response) => {
    const model = /"model":"(\w+)"|name="model"\r\n\r\n(\w+)/.exec(request.body.toString('latin1'));
    const fault = faults[model?.[1] ?? model?.[2] ?? ''];
    return fault === undefined ? response.json(503, {}) : fault(request, response);
  });
  second = await createUpstream((request, response) =>
    request.path.endsWith('/speech')
      ? response.send(200, { 'content-type': 'audio/mpeg' }, 'recording')
      : request.body.includes('name="response_format"\r\n\r\ntext')
        ? response.send(200, { 'content-type': 'text/plain; charset=utf-8' }, 'heard')
        : response.json(200, { text: 'heard' }),
  );
  gateway = await startGateway({
    yaml: `${wholePipeline}
upstreams:
  first: { format: [speech, transcriptions], base_url: "${first.url}/v1" }
  second: { format: [speech, transcriptions], base_url: "${second.url}/v1" }
models:
${Object.keys(faults)
  .map((name) => `  ${name}: { kind: speech, ${routes(name)} }`)
  .join('\n')}
  ears: { kind: transcription, ${routes('ears')} }
`,
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await Promise.all([first, second].map((one) => one[Symbol.asyncDispose]()));
});

const speak = (model: string) =>
  fetch(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, voice: 'alloy', input: 'hello' }),
  });

const transcribe = (body: FormData) =>
  fetch(`${gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body,
  });

const readOutcome = () =>
  gateway.database.query<{ outcome: string }>("select outcome from request_log where model = 'dp/cut'");

const formWith = (file: Blob, model = 'ears') => {
  const form = new FormData();
  form.set('file', file, 'speech.wav');
  form.set('model', model);
  return form;
};

describe('speech', () => {
  it.each(['page', 'error', 'empty'])('comes from the backup where the first route sends: %s', async (model) => {
    const response = await speak(model);
    expect([response.status, await response.text()]).toEqual([200, 'recording']);
  });

  it('that breaks off breaks the connection, and is recorded as failed', async () => {
    const response = await speak('cut');
    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    await expect(response.arrayBuffer()).rejects.toThrow();
    await expect.poll(readOutcome).toEqual([{ outcome: 'failed' }]);
  });
});

describe('an upload', () => {
  it('of 25 MB reaches the backup as it is, after the first route has failed', async () => {
    const recording = Buffer.alloc(25 * 1024 * 1024, 7);
    const response = await transcribe(formWith(new Blob([recording])));
    expect([response.status, await response.json()]).toEqual([200, { text: 'heard' }]);
    const sizes = [first, second].map(({ requests }) => requests.at(-1)?.body.length ?? 0);
    expect(Math.min(...sizes)).toBeGreaterThan(recording.length);
    expect(second.requests.at(-1)?.body.includes(recording)).toBe(true);
  });

  it.each<[string, () => FormData, number, RegExp]>([
    ['without a part', () => new FormData(), 400, /`model`/],
    ['for an unknown model', () => formWith(new Blob(['x']), 'eyes'), 404, /not found/],
    ['for a model of speech', () => formWith(new Blob(['x']), 'page'), 400, /POST \/v1\/audio\/speech/],
    ['that is too large', () => formWith(new Blob([Buffer.alloc(33 * 1024 * 1024)])), 413, /larger than/],
  ])('%s is refused', async (_name, form, status, message) => {
    const response = await transcribe(form());
    expect([response.status, await response.text()]).toEqual([status, expect.stringMatching(message)]);
  });

  it('gets a transcript as text from a model that ignores `stream`, as whisper-1 does', async () => {
    const form = formWith(new Blob(['x']));
    form.set('response_format', 'text');
    form.set('stream', 'true');
    const response = await transcribe(form);
    expect([response.status, await response.text()]).toEqual([200, 'heard']);
  });

  it('is refused as text, which names the type that it must have', async () => {
    const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'text/plain' },
      body: 'hello',
    });
    expect([response.status, await response.text()]).toEqual([415, expect.stringContaining('multipart/form-data')]);
  });

  it('asks for no cached answer', async () => {
    const body = formWith(new Blob(['x']));
    const headers = { authorization: `Bearer ${gateway.key}`, 'x-service-cache': '60' };
    const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, { method: 'POST', headers, body });
    expect([response.status, response.headers.get('x-service-cache')]).toEqual([200, null]);
  });
});
