import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createUpstream, type FaultyUpstream, type ScriptedResponse } from '../support/faulty-upstream.ts';
import { type TextFormat, textFormats } from '../support/formats.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readBody } from '../support/read-body.ts';
import type { Answer } from '../support/readers/answer.ts';
import { readers } from '../support/readers/index.ts';

/** Events of a Chat stream before its finish reason. */
type Events = readonly string[];
/** How a stream breaks off. */
type Break = (response: ScriptedResponse) => void | Promise<void>;

const eventOf = (value: object, name = '') => `${name}data: ${JSON.stringify(value)}\n\n`;
const chunkOf = (delta: object, finish: string | null = null, more: object = {}) =>
  eventOf({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  });
const choiceOf = (index: number, delta: object, finish: string | null = null) =>
  chunkOf({}, null, { choices: [{ index, delta, finish_reason: finish }] });
const call = (entry: object) => chunkOf({ tool_calls: [entry] });
const opening = (index: number, id: string) =>
  call({ index, id, type: 'function', function: { name: 'get_weather', arguments: '' } });
const input = (index: number, text: string) => call({ index, function: { arguments: text } });
const role = chunkOf({ role: 'assistant', content: '' });
const done = 'data: [DONE]\n\n';
const error = { message: 'the engine is gone', type: 'server_error' };

const streams: Readonly<Record<string, Events>> = {
  text: [role, chunkOf({ content: 'one ' }), chunkOf({ content: 'two' })],
  reasoning: [role, chunkOf({ reasoning_content: 'Hm.' }), chunkOf({ content: 'one' })],
  call: [role, opening(0, 'c1'), input(0, '{"city"'), input(0, ':"Bern"}')],
  'text and calls': [
    role,
    chunkOf({ content: 'one ' }),
    opening(0, 'c1'),
    input(0, '{}'),
    opening(1, 'c2'),
    input(1, '{"x":'),
  ],
};

/** All beginnings of the streams, that without content once. */
const beginnings: readonly Events[] = [
  [role],
  ...Object.values(streams).flatMap((stream) => stream.slice(1).map((_event, at) => stream.slice(0, at + 2))),
];

const send =
  (...events: string[]): Break =>
  (response) =>
    response.end(events.join(''));
const breaks: Readonly<Record<string, Break>> = {
  'the body ends': send(),
  'the body ends inside an event': send('data: {"choices":[{"index":0,"delta":{"content":"x"'),
  'the connection is cut': (response) => response.cut(),
  'an error comes': send(eventOf({ error }), done),
  'an error comes, and nothing else': send(eventOf({ error })),
  'a named error comes': send(eventOf({ error }, 'event: error\n'), done),
  'a named error without an error member comes': send(eventOf(error, 'event: error\n'), done),
  'an error as text comes': send(eventOf({ error: 'the engine is gone' }), done),
  'an object of type error comes': send(eventOf({ object: 'error', message: 'the engine is gone', code: 500 }), done),
  'an error in a chunk that finishes comes': send(chunkOf({ content: '' }, 'error', { error }), done),
  'an error in a choice comes': send(
    eventOf({ choices: [{ index: 0, delta: {}, error, finish_reason: 'error' }] }),
    done,
  ),
  'the finish reason error comes': send(chunkOf({}, 'error'), done),
  'the finish reason network_error comes': send(chunkOf({}, 'network_error'), done),
  'the finish reason insufficient_system_resource comes': send(chunkOf({}, 'insufficient_system_resource'), done),
  'a status of MiniMax comes': send(eventOf({ base_resp: { status_code: 1000, status_msg: 'gone' } }), done),
};
/** An idle timeout takes a second, so it is tried at two points. */
const stalls: readonly Events[] = [streams['text']?.slice(0, 2) ?? [], streams['call']?.slice(0, 3) ?? []];

let upstream: FaultyUpstream;
let gateway: TestGateway;
/** What the upstream does for a model's name. */
const scripts = new Map<string, Break>();

beforeAll(async () => {
  upstream = await createUpstream((request, response) =>
    scripts.get(request.json<{ model: string }>().model)?.(response),
  );
  const variants = ['a', 'b', 'new', ...beginnings.keys()];
  const names = textFormats.flatMap((client) => variants.map((variant) => `${client}-${variant}`));
  gateway = await startGateway({
    yaml: `
pipeline:
  - auth
  - cache
  - format
  - upstream: { idle_timeout: 1, retry_share: 1, breaker: { failures: 1000, minimum_calls: 100000 } }
  - log
upstreams:
  chat: { format: chat, base_url: "${upstream.url}" }
models:
${names.map((name) => `  ${name}: { routes: [chat/${name}] }`).join('\n')}
${textFormats.map((client) => `  ${client}-sure: { routes: [{ to: chat/${client}-sure, quirks: { finish_reason: false } }] }`).join('\n')}
`,
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});

interface Received {
  readonly id: string;
  readonly status: number;
  readonly text: string;
  readonly isWhole: boolean;
}

async function ask(client: TextFormat, script: Break, variant = 'a'): Promise<Received> {
  const model = `${client}-${variant}`;
  scripts.set(model, script);
  const messages = [{ role: 'user', content: 'hi' }];
  const asks = {
    chat: ['/v1/chat/completions', { model, messages, stream: true }],
    messages: ['/v1/messages', { model, messages, max_tokens: 9, stream: true }],
    responses: ['/v1/responses', { model, input: 'hi', stream: true, store: false }],
    gemini: [
      `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
      { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    ],
  } as const;
  const [path, body] = asks[client];
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { id: answer.headers.get('x-request-id') ?? '', status: answer.status, ...(await readBody(answer)) };
}

/** Sends these events one by one, and then breaks off. */
function playing(events: Events, ending: Break): Break {
  return async (response) => {
    response.head(200, { 'content-type': 'text/event-stream' });
    for (const event of events) await response.write(event);
    await response.passedOn();
    await ending(response);
  };
}

/** Signs of a complete answer in each format. */
const finishes: Readonly<Record<TextFormat, RegExp>> = {
  chat: /"finish_reason":"/,
  messages: /"stop_reason":"|message_stop/,
  responses: /response\.(completed|incomplete)|"arguments":"[^"]*[^"}]","status":"completed"/,
  gemini: /"finishReason"/,
};

function expectBroken(client: TextFormat, { status, text, isWhole }: Received, events: Events): void {
  // Before any content no route has answered.
  if (events.length <= 1) return expect(status).toBeGreaterThanOrEqual(500);
  expect([status, isWhole]).toEqual([200, false]);
  expect(text).not.toMatch(finishes[client]);
  const { error: reported, finish }: Answer = readers[client].stream(text);
  expect([reported?.message, finish]).toEqual([expect.stringMatching(/\S/), undefined]);
}

describe.each(textFormats)('a %s client of a Chat upstream', (client) => {
  it.each(Object.entries(breaks))(
    'gets an error and no finish reason when, at any event, %s',
    async (_name, ending) => {
      // At once, each with a model of its own: a broken connection is closed only after a while.
      const received = beginnings.map((events, index) => ask(client, playing(events, ending), String(index)));
      for (const [index, answer] of (await Promise.all(received)).entries())
        expectBroken(client, answer, beginnings[index] ?? []);
    },
  );

  it('gets an error and no finish reason when the stream stalls', async () => {
    const stalled = stalls.map((events, at) =>
      ask(
        client,
        playing(events, () => undefined),
        at === 0 ? 'a' : 'b',
      ),
    );
    for (const [at, received] of (await Promise.all(stalled)).entries()) {
      expectBroken(client, received, stalls[at] ?? []);
    }
  });

  it.each([
    ['text', streams['text'], 'stop'],
    ['whole call', streams['call'], 'tool_calls'],
    ['call without arguments', streams['call']?.slice(0, 2), 'tool_calls'],
  ])('gets the finish reason of a %s that the vendor never gives', async (_name, events, finish) => {
    const { text } = await ask(client, playing(events ?? [], send(done)), 'sure');
    expect(readers[client].stream(text)).toMatchObject({ finish, error: undefined });
  });

  it('gets the received text when the upstream sends [DONE] without a finish reason, and the record notes it', async () => {
    const { id, text } = await ask(client, playing(streams['text'] ?? [], send(done)), 'new');
    expect(text).toContain('two');
    if (client === 'chat') expect(text).not.toMatch(/finish_reason":"|"error"/);
    else expect(readers[client].stream(text)).toMatchObject({ finish: 'stop', error: undefined });
    await vi.waitFor(
      async () => {
        const [row] = await gateway.database.query<{ outcome: string; notes: string[] }>(
          'SELECT outcome, notes FROM request_log WHERE id = ?',
          [id],
        );
        expect(row).toEqual({ outcome: 'answered', notes: ['missing finish reason'] });
      },
      { timeout: 20_000, interval: 50 },
    );
  });

  it('gets an error for [DONE] without a finish reason from a route that has sent finish reasons before', async () => {
    const events = streams['text'] ?? [];
    await ask(client, playing([...events, chunkOf({}, 'stop')], send(done)), 'b');
    expectBroken(client, await ask(client, playing(events, send(done)), 'b'), events);
  });

  it.each(Object.entries(breaks))('gets the whole answer when %s after the finish reason', async (_name, ending) => {
    const { text } = await ask(client, playing([...(streams['text'] ?? []), chunkOf({}, 'stop')], ending));
    expect(readers[client].stream(text)).toMatchObject({ text: 'one two', finish: 'stop', error: undefined });
  });

  it.each([
    ['call', streams['call']?.slice(0, 3) ?? []],
    ['second call', streams['text and calls'] ?? []],
  ])('gets an error for half a %s before [DONE]', async (_name, events) => {
    expectBroken(client, await ask(client, playing(events, send(done))), events);
  });
});

it('a Chat client gets the texts of several choices, of which LiteLLM reports one finish reason', async () => {
  const texts = [choiceOf(0, { role: 'assistant', content: 'A' }), choiceOf(1, { content: 'B' })];
  const finish = choiceOf(0, {}, 'stop');
  await ask('chat', playing([...texts, finish, choiceOf(1, {}, 'stop')], send(done)), 'b');
  const { text, isWhole } = await ask('chat', playing([...texts, finish], send(done)), 'b');
  expect({ isWhole, hasError: text.includes('"error"') }).toEqual({ isWhole: true, hasError: false });
  expect(text).toContain('[DONE]');
});
