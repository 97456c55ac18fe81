import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { answers, failureEvents } from '../plugins/upstream/streams-fixture.ts';
import {
  createUpstream,
  type FaultyUpstream,
  type Handler,
  type ScriptedResponse,
} from '../support/faulty-upstream.ts';
import { type TextFormat, textFormats } from '../support/formats.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readBody } from '../support/read-body.ts';

let fault: (response: ScriptedResponse, format: TextFormat, path: string) => void | Promise<void>;
let broken: FaultyUpstream;
let sound: FaultyUpstream;
let gateway: TestGateway;
/** Of an account of the test's own: a route that has failed an account comes last for it. */
let key: string;
/** Resolves when the client has read part of the answer. */
let reading: PromiseWithResolvers<void>;

const formatOf = (path: string): TextFormat => {
  if (path.includes('/chat/')) return 'chat';
  if (path.includes('/messages')) return 'messages';
  return path.includes('/responses') ? 'responses' : 'gemini';
};
const isStreamed = (path: string, body: Buffer) =>
  path.includes('streamGenerateContent') || body.includes('"stream":true');
const eventStream = { 'content-type': 'text/event-stream' };
const serve: Handler = ({ path, body }, response) => {
  const { whole, opening, content, closing } = answers[formatOf(path)];
  if (!isStreamed(path, body)) return response.json(200, whole);
  response.send(200, eventStream, [...opening, ...content, ...closing].join(''));
};

const statuses = [400, 401, 402, 403, 404, 409, 429, 500, 502, 503, 529];
const refusals = ['rate_limit_exceeded', 'insufficient_quota', 'throttled', ...statuses];

beforeAll(async () => {
  broken = await createUpstream(({ path }, response) => fault(response, formatOf(path), path));
  sound = await createUpstream(serve);
  const upstreams = textFormats.flatMap((format) => [
    `  broken-${format}: { format: ${format}, base_url: "${broken.url}" }`,
    `  first-${format}: { format: ${format}, base_url: "${broken.url}/first" }`,
    `  second-${format}: { format: ${format}, base_url: "${broken.url}/second" }`,
    `  sound-${format}: { format: ${format}, base_url: "${sound.url}" }`,
  ]);
  const models = textFormats.flatMap((format) => [
    `  ${format}: { routes: [broken-${format}/m, sound-${format}/m] }`,
    // A key cools down for one model, so tests with different models do not affect each other.
    ...refusals.map((name) => `  ${format}-${name}: { routes: [first-${format}/${name}, second-${format}/${name}] }`),
    `  ${format}-alone: { routes: [broken-${format}/m] }`,
  ]);
  gateway = await startGateway({
    yaml: `
pipeline:
  - auth
  - format
  - upstream: { retry_share: 1, breaker: { failures: 1000, minimum_calls: 100000 } }
  - log
upstreams:
${upstreams.join('\n')}
models:
${models.join('\n')}
`,
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await broken?.[Symbol.asyncDispose]();
  await sound?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  ({ key } = await createAccount(gateway.database, 'dp', { name: 'Ani', period: { days: 1, reason: 'grant' } }));
  fault = () => undefined;
  reading = Promise.withResolvers();
});

/** Sends a request in one format for a model whose routes speak the same format or another. */
async function ask(
  format: TextFormat,
  model: string,
  isStream: boolean,
): Promise<{ status: number; text: string; isWhole: boolean; wait: string | null }> {
  const messages = [{ role: 'user', content: 'hi' }];
  const asks = {
    chat: ['/v1/chat/completions', { model, messages, stream: isStream }],
    messages: ['/v1/messages', { model, messages, max_tokens: 9, stream: isStream }],
    responses: ['/v1/responses', { model, input: 'hi', stream: isStream, store: false }],
    gemini: [
      `/v1beta/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    ],
  } as const;
  const [path, body] = asks[format];
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const received = await readBody(answer, (text) => {
    if (text.includes('one ')) reading.resolve();
  });
  return { status: answer.status, ...received, wait: answer.headers.get('retry-after') };
}

/** The last event of a failed stream in each format. */
const endings: Readonly<Record<TextFormat, RegExp>> = {
  chat: /data: \{"error":\{[^\n]*\}\n\n$/,
  messages: /event: error\ndata: \{"type":"error",[^\n]*\}\n\n$/,
  responses: /event: response\.failed\ndata: \{[^\n]*"status":"failed"[^\n]*\}\n\n$/,
  gemini: /data: \{"error":\{[^\n]*\}\r?\n\r?\n$/,
};

const page = '<html><body>502</body></html>';
const json = { 'content-type': 'application/json' };
const error = { code: 'server_error', type: 'server_error', message: 'it broke' };
const send = (type: Record<string, string>, body: string) => (response: ScriptedResponse) =>
  response.send(200, type, body);
type Fault = [name: string, isStream: boolean, play: (response: ScriptedResponse, format: TextFormat) => void];
const faults: Fault[] = [
  ['an error in a whole answer', false, send(json, JSON.stringify({ error }))],
  ['nothing', false, send(json, '')],
  ['an object without an answer', false, send(json, '{}')],
  ['a page', false, send({ 'content-type': 'text/html' }, page)],
  ['a page called JSON', false, send(json, page)],
  ['an empty stream for a whole answer', false, send(eventStream, '')],
  [
    'an error as its first event',
    true,
    (response, format) => send(eventStream, failureEvents[format](error))(response),
  ],
  ['an error without a name as its first event', true, send(eventStream, `data: ${JSON.stringify({ error })}\n\n`)],
  ['an empty stream', true, send(eventStream, '')],
  ['comments and nothing else', true, send(eventStream, ': a\n\n: b\n\n')],
  ['an end and nothing else', true, send(eventStream, 'data: [DONE]\n\n')],
  ['an error for a stream', true, send(json, JSON.stringify({ error }))],
  ['an object for a stream', true, send(json, '{}')],
  ['a page for a stream', true, send({ 'content-type': 'text/html' }, page)],
];

describe.each(textFormats)('a 200 in %s', (format) => {
  it.each(faults)('with %s fails over', async (_name, isStream, play) => {
    fault = play;
    const before = [broken.requests.length, sound.requests.length];
    const { status, text } = await ask(format, format, isStream);
    expect([broken.requests.length, sound.requests.length]).toEqual(before.map((count) => count + 1));
    expect([status, text]).toEqual([200, expect.stringContaining('two')]);
    expect(text).not.toContain('broke');
  });

  it('with a stream instead of a whole answer is accepted', async () => {
    const { opening, content, closing } = answers[format];
    fault = send(eventStream, [...opening, ...content, ...closing].join(''));
    const { status, text } = await ask(format, `${format}-alone`, false);
    expect([status, text.includes('one two') || /one .*two/s.test(text)]).toEqual([200, true]);
  });

  it('with a whole answer instead of a stream is accepted', async () => {
    fault = (response) => response.json(200, answers[format].whole);
    const { status, text } = await ask(format, `${format}-alone`, true);
    expect([status, text]).toEqual([200, expect.stringContaining('one two')]);
    expect(text).not.toMatch(endings[format]);
  });

  it.each([true, false])(
    'about a prompt that is too long is reported as the client’s error (stream: %j)',
    async (isStream) => {
      const overflow = {
        code: 'context_length_exceeded',
        type: 'invalid_request_error',
        message: 'prompt is too long',
      };
      fault = (response) =>
        isStream
          ? response.send(200, eventStream, failureEvents[format](overflow))
          : response.json(200, { error: overflow });
      const before = sound.requests.length;
      const { status, text } = await ask(format, format, isStream);
      expect([status, text]).toEqual([400, expect.stringContaining('prompt is too long')]);
      expect(sound.requests).toHaveLength(before);
    },
  );

  it.each([
    ['rate_limit_exceeded', 429],
    ['insufficient_quota', format === 'responses' ? 400 : 424],
  ])('with the error %s from the only route is reported as %d', async (code, expected) => {
    fault = (response) => response.json(200, { error: { code, message: 'sk-secret1234 of org-secret1234' } });
    const { status, text } = await ask(format, `${format}-${code}`, false);
    expect(status).toBe(expected);
    expect(text).not.toContain('secret');
  });
});

describe.each(textFormats)('a %s client whose routes all', (format) => {
  it('are throttled gets the shortest Retry-After', async () => {
    fault = (response, _format, path) =>
      response.json(
        429,
        { error: { message: 'org-secret1234' } },
        { 'retry-after': path.includes('first') ? '70' : '7' },
      );
    const { status, wait, text } = await ask(format, `${format}-throttled`, true);
    expect([status, wait]).toEqual([429, '7']);
    expect(text).not.toContain('secret');
  });

  it.each(statuses)('answer %i gets no credential, account or address of the upstream', async (answered) => {
    const message = `bad key sk-secret1234 of org-secret1234 at ${broken.url}`;
    fault = (response) => response.json(answered, { error: { message } });
    const { status, text } = await ask(format, `${format}-${answered}`, false);
    expect(status).toBeGreaterThanOrEqual(400);
    expect([401, 402, 403]).not.toContain(status);
    expect(text).not.toMatch(/secret|127\.0\.0\.1/);
  });
});

/** Formats of client and route: passed through, and translated. */
const pairs = textFormats.flatMap((format) => textFormats.map((route) => [format, route] as const));

describe.each(pairs)('a stream in %s from a route in %s', (format, route) => {
  const { opening, content, closing } = answers[route];
  const events = [...opening, ...content, ...closing];
  const cuts = events.map((_event, index) => index);
  const isOver = (text: string) => !endings[format].test(text);

  it.each(cuts)('that is cut after event %i is never taken for a complete one', async (count) => {
    fault = async (response) => {
      response.head(200, eventStream);
      await response.write(events.slice(0, count).join(''));
      if (!isBeforeContent) await reading.promise;
      response.cut();
    };
    const isBeforeContent = count <= opening.length;
    const { status, text, isWhole } = await ask(format, `${route}-alone`, true);
    if (isBeforeContent) return expect(status).toBe(502);
    expect(status).toBe(200);
    expect(text).toContain('one ');
    expect(isWhole).toBe(isOver(text));
    // A stream with a finish reason is complete, even if the last event is missing.
    if (isOver(text)) expect(events.slice(0, count).join('')).toMatch(/finish_reason":"stop|stop_reason":"end_turn/);
    expect(text.includes('two') || !isOver(text)).toBe(true);
  });

  it('that reports an error after its first content ends with that error', async () => {
    fault = async (response) => {
      response.head(200, eventStream);
      await response.write([...opening, content[0]].join(''));
      await reading.promise;
      response.end([failureEvents[route](error), ...closing].join(''));
    };
    const { text, isWhole } = await ask(format, `${route}-alone`, true);
    expect(text).toMatch(endings[format]);
    expect(isWhole).toBe(false);
    expect([text.includes('one '), text.includes('"two"')]).toEqual([true, false]);
  });

  it('that is cut before its first content fails over', async () => {
    fault = async (response) => {
      response.head(200, eventStream);
      await response.write(opening.join(''));
      response.cut();
    };
    const asked = broken.requests.length;
    const { status, text } = await ask(format, route, true);
    expect([status, text.includes('two'), isOver(text)]).toEqual([200, true, true]);
    expect(broken.requests).toHaveLength(asked + 1);
  });
});
