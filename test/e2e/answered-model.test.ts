import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answers, failureEvents } from '../plugins/upstream/streams-fixture.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../support/faulty-upstream.ts';
import { type TextFormat, textFormats } from '../support/formats.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readBody } from '../support/read-body.ts';

/** The name by which the upstream calls the model, in answers: a version of the one that it was asked for. */
const version = 'vendor-model-2026-11-01';
const isStreamed = (path: string, body: Buffer) =>
  path.includes('streamGenerateContent') || body.includes('"stream":true');
const formatOf = (path: string) => textFormats.find((format) => path.startsWith(`/${format}/`)) as TextFormat;

const refusal = "Unsupported value: 'n' is not supported with vendor-model, nor with `vendor-model-2026-11-01`.";

/** The events of an answer with the upstream's name in them. */
function named(format: TextFormat, text: string): string {
  if (format === 'chat') return text.replaceAll('data: {', `data: {"model":"${version}",`);
  if (format === 'gemini') return text.replaceAll(/\}\n\n/g, `,"modelVersion":"${version}"}\n\n`);
  return text.replaceAll('"model":"m"', `"model":"${version}"`);
}

const serve: Handler = ({ path, body }, response) => {
  const format = formatOf(path);
  if (body.includes('refuse it')) return response.json(400, { error: { message: refusal } });
  const { whole, opening, content, closing } = answers[format];
  if (!isStreamed(path, body)) {
    const name = format === 'gemini' ? { modelVersion: version } : { model: version };
    return response.json(200, { ...whole, ...name });
  }
  const isBroken = body.includes('break it');
  const events = [...opening, ...content, ...(isBroken ? [failureEvents[format]({ message: 'broke' })] : closing)];
  response.send(200, { 'content-type': 'text/event-stream' }, named(format, events.join('')));
};

let upstream: FaultyUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await createUpstream(serve);
  gateway = await startGateway({
    yaml: `
pipeline: [auth, cache, format, upstream, log]
upstreams:
${textFormats.map((format) => `  ${format}: { format: ${format}, base_url: "${upstream.url}/${format}" }`).join('\n')}
models:
${textFormats.map((format) => `  my-${format}: { routes: [${format}/vendor-model] }`).join('\n')}
aliases:
${textFormats.map((format) => `  claude-${format}: my-${format}`).join('\n')}
`,
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});

async function ask(format: TextFormat, model: string, isStream: boolean, prompt = 'hi', more: object = {}) {
  const messages = [{ role: 'user', content: prompt }];
  const asks = {
    chat: ['/v1/chat/completions', { model, messages, stream: isStream, ...more }],
    messages: ['/v1/messages', { model, messages, max_tokens: 9, stream: isStream, ...more }],
    responses: ['/v1/responses', { model, input: prompt, stream: isStream, ...more }],
    gemini: [
      `/v1beta/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      { contents: [{ role: 'user', parts: [{ text: prompt }] }], ...more },
    ],
  } as const;
  const [path, body] = asks[format];
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
  const answer = await fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await readBody(answer)).text;
}

/** Every model that an answer names. */
const namesIn = (text: string) => [
  ...new Set([...text.matchAll(/"(?:model|modelVersion)":"([^"]*)"/g)].map(([, name]) => name)),
];

describe.each(textFormats)('an answer of a %s route to a client of the same format', (format) => {
  it.each([
    ['the short name', `my-${format}`, `dp/my-${format}`],
    ['the public name', `dp/my-${format}`, `dp/my-${format}`],
    ['an alias', `claude-${format}`, `claude-${format}`],
  ])('names the model by the public name or the alias, asked by %s', async (_name, asked, answered) => {
    for (const isStream of [true, false]) {
      expect([isStream, namesIn(await ask(format, asked, isStream))]).toEqual([isStream, [answered]]);
    }
  });

  it('has the requested model name in a stream that breaks off', async () => {
    const text = await ask(format, `my-${format}`, true, 'break it');
    expect(text).not.toContain(version);
    expect(text).toMatch(/"error":\{/);
  });

  it.each([true, false])(
    'has the requested model name when the upstream refuses a request, streamed: %s',
    async (isStream) => {
      const text = await ask(format, `my-${format}`, isStream, 'refuse it');
      expect(text).toContain(`with dp/my-${format}, nor with \`dp/my-${format}\`.`);
    },
  );

  it('has the requested model name in the usage that the gateway adds', async () => {
    const usage = format === 'chat' ? { stream_options: { include_usage: true } } : {};
    expect(namesIn(await ask(format, `my-${format}`, true, 'count it', usage))).toEqual([`dp/my-${format}`]);
  });

  it('has the model name of each request when it comes from the cache', async () => {
    const more = format === 'gemini' ? { generationConfig: { temperature: 0 } } : { temperature: 0 };
    for (const asked of [`my-${format}`, `my-${format}`, `claude-${format}`, `my-${format}`]) {
      const answered = asked.startsWith('my') ? `dp/${asked}` : asked;
      expect(namesIn(await ask(format, asked, false, 'cache it', more))).toEqual([answered]);
    }
  });
});

it('a stored response names the model that was asked for', async () => {
  const text = await ask('responses', 'claude-responses', true, 'store it', { store: true });
  const id = /"id":"(resp_[^"]*)"/.exec(text)?.[1];
  const stored = await fetch(`${gateway.url}/v1/responses/${id}`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  expect(await stored.json()).toMatchObject({ id, model: 'claude-responses' });
});
