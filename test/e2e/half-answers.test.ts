import { once } from 'node:events';
import Anthropic from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { answers, failureEvents } from '../plugins/upstream/streams-fixture.ts';
import { createUpstream, type FaultyUpstream, type ScriptedResponse } from '../support/faulty-upstream.ts';
import { type TextFormat, textFormats } from '../support/formats.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { RawClient } from '../support/raw-client.ts';

/** How an upstream stream breaks off behind its first words. */
type Break = (response: ScriptedResponse, format: TextFormat) => void;

let breakOff: Break;
let upstream: FaultyUpstream;
let gateway: TestGateway;
/** Of an account of the test's own: a route that has failed an account comes last for it. */
let key: string;
/** Resolves once the client has got the first words. */
let reading: PromiseWithResolvers<void>;

beforeAll(async () => {
  upstream = await createUpstream(async ({ path }, response) => {
    const format = textFormats.find((name) => path.includes(`/${name}/`)) as TextFormat;
    const { opening, content } = answers[format];
    response.sse();
    await response.write([...opening, content[0]].join(''));
    await reading.promise;
    breakOff(response, format);
  });
  gateway = await startGateway({
    yaml: `
pipeline: [auth, format, { upstream: { idle_timeout: 1, breaker: { failures: 1000, minimum_calls: 100000 } } }, log]
upstreams:
${textFormats.map((format) => `  ${format}: { format: ${format}, base_url: "${upstream.url}/${format}" }`).join('\n')}
models:
${textFormats.map((format) => `  ${format}: { routes: [${format}/m] }`).join('\n')}
`,
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  ({ key } = await createAccount(gateway.database, 'dp', { name: 'Ani', period: { days: 1, reason: 'grant' } }));
  reading = Promise.withResolvers();
  breakOff = (response) => response.cut();
});

const messages = [{ role: 'user' as const, content: 'hi' }];
const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
const asks: Readonly<Record<TextFormat | 'gemini array', (model: string) => readonly [path: string, body: object]>> = {
  chat: (model) => ['/v1/chat/completions', { model, messages, stream: true }],
  messages: (model) => ['/v1/messages', { model, messages, max_tokens: 9, stream: true }],
  responses: (model) => ['/v1/responses', { model, input: 'hi', stream: true, store: false }],
  gemini: (model) => [`/v1beta/models/${model}:streamGenerateContent?alt=sse`, { contents }],
  'gemini array': (model) => [`/v1beta/models/${model}:streamGenerateContent`, { contents }],
};
type Asked = keyof typeof asks;
const allAsked = Object.keys(asks) as Asked[];

/** The last bytes of a broken stream: those of a chunk, not of the body. */
const endings: Readonly<Record<Asked, RegExp>> = {
  chat: /data: \{"error":\{[^\n]*\}\n\n\r\n$/,
  messages: /event: error\ndata: \{"type":"error",[^\n]*\}\n\n\r\n$/,
  responses: /event: error\n[^]*event: response\.failed\ndata: \{[^\n]*\}\n\n\r\n$/,
  gemini: /data: \{"error":\{[^\n]*\}\r?\n\r?\n\r\n$/,
  'gemini array': /,\r\n\{"error":\{[^\n]*\}\r\n$/,
};

/** Sends a request on a connection of its own. */
async function open(asked: Asked, model: string): Promise<RawClient> {
  const [path, body] = asks[asked](model);
  const text = JSON.stringify(body);
  const client = await RawClient.open(gateway.url);
  client.send(
    `POST ${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${text.length}\r\n\r\n${text}`,
  );
  await client.waitFor('one ');
  reading.resolve();
  return client;
}

const error = { code: 'server_error', type: 'server_error', message: 'it broke' };
const breaks: Readonly<Record<string, Break>> = {
  'is cut': (response) => response.cut(),
  'ends early': (response) => response.end(),
  'reports an error, and ends as the vendor ends it': (response, format) =>
    response.end([failureEvents[format](error), ...answers[format].closing].join('')),
  'falls silent': () => undefined,
};

describe.each(allAsked)('half an answer to a client of %s', (asked) => {
  it.each(Object.entries(breaks))('does not end as a whole one when the upstream %s', async (_name, play) => {
    breakOff = play;
    using client = await open(asked, asked === 'gemini array' ? 'gemini' : asked);
    // A reset would be an error in place of an end.
    await once(client.socket, 'end');
    expect(client.received).toMatch(endings[asked]);
    expect(client.received).not.toContain('[DONE]');
  });

  it('of a route in another format does not either', async () => {
    using client = await open(asked, asked === 'messages' ? 'chat' : 'messages');
    await once(client.socket, 'end');
    expect(client.received).toMatch(endings[asked]);
  });
});

const words = /Connection error: connection reset by the upstream/;

/** Reads like an application that takes a moment over each event. */
async function read(events: AsyncIterable<unknown>): Promise<void> {
  for await (const event of events) {
    if (JSON.stringify(event).includes('one ')) reading.resolve();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });

describe('the official SDKs raise the words of the gateway on half an answer', () => {
  it('openai, Chat Completions', async () => {
    const stream = await openai().chat.completions.create({ model: 'chat', messages, stream: true });
    const raised = await read(stream).catch((thrown: unknown) => thrown);
    expect(raised).toBeInstanceOf(OpenAI.APIError);
    expect(raised).toMatchObject({ message: expect.stringMatching(words), code: 'upstream_failed' });
  });

  it('openai, Responses', async () => {
    const stream = await openai().responses.create({ model: 'responses', input: 'hi', stream: true, store: false });
    const raised = await read(stream).catch((thrown: unknown) => thrown);
    expect(raised).toBeInstanceOf(OpenAI.APIError);
    expect(raised).toMatchObject({ message: expect.stringMatching(words), code: 'server_error' });
  });

  it('@anthropic-ai/sdk', async () => {
    const client = new Anthropic({ baseURL: gateway.url, apiKey: key, maxRetries: 0 });
    const stream = await client.messages.create({ model: 'messages', messages, max_tokens: 9, stream: true });
    const raised = await read(stream).catch((thrown: unknown) => thrown);
    expect(raised).toBeInstanceOf(Anthropic.APIError);
    expect(raised).toMatchObject({ message: expect.stringMatching(words) });
  });

  it('@google/genai', async () => {
    const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: gateway.url } });
    const stream = await client.models.generateContentStream({ model: 'gemini', contents: 'hi' });
    const raised = await read(stream).catch((thrown: unknown) => thrown);
    expect(raised).toBeInstanceOf(ApiError);
    expect(raised).toMatchObject({ message: expect.stringMatching(words) });
  });
});
