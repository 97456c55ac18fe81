import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findRequest } from '#core/gateway/records/read-requests.ts';
import { countUsage } from '#core/gateway/records/usage.ts';
import { answers } from '../plugins/upstream/streams-fixture.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../support/faulty-upstream.ts';
import { type TextFormat, textFormats } from '../support/formats.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/** The words of each format for an answer that ended, and for one that was withheld. */
const words: Readonly<Record<TextFormat, readonly [ended: string, withheld: string]>> = {
  chat: ['"finish_reason":"stop"', '"finish_reason":"content_filter"'],
  messages: ['"stop_reason":"end_turn"', '"stop_reason":"refusal"'],
  responses: [
    '"status":"completed","output"',
    '"incomplete_details":{"reason":"content_filter"},"status":"incomplete","output"',
  ],
  gemini: ['"finishReason":"STOP"', '"finishReason":"SAFETY"'],
};
const refusal = {
  error: { code: 'content_policy_violation', message: 'Your request was rejected by our safety system.' },
};

const serve: Handler = ({ path, body }, response) => {
  const format = textFormats.find((name) => path.startsWith(`/${name}/`)) as TextFormat;
  if (body.includes('refuse')) return response.json(400, refusal);
  const { whole, opening, content, closing } = answers[format];
  const isStream = path.includes('streamGenerateContent') || body.includes('"stream":true');
  const text = isStream ? [...opening, ...content, ...closing].join('') : JSON.stringify(whole);
  const [ended, withheld] = words[format];
  expect(text).toContain(ended);
  const type = isStream ? 'text/event-stream' : 'application/json';
  response.send(200, { 'content-type': type }, body.includes('withhold') ? text.replaceAll(ended, withheld) : text);
};

let upstream: FaultyUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await createUpstream(serve);
  gateway = await startGateway({
    yaml: `
pipeline: [auth, format, upstream, log]
upstreams:
${textFormats.map((format) => `  ${format}: { format: ${format}, base_url: "${upstream.url}/${format}" }`).join('\n')}
models:
${textFormats.map((format) => `  my-${format}: { routes: [${format}/vendor-model] }`).join('\n')}
`,
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});

/** @returns whether the record of a request says that a policy refused it */
async function isRefused(client: TextFormat, route: TextFormat, prompt: string, isStream: boolean) {
  const model = `my-${route}`;
  const messages = [{ role: 'user', content: prompt }];
  const asks = {
    chat: ['/v1/chat/completions', { model, messages, stream: isStream }],
    messages: ['/v1/messages', { model, messages, max_tokens: 9, stream: isStream }],
    responses: ['/v1/responses', { model, input: prompt, stream: isStream }],
    gemini: [
      `/v1beta/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      { contents: [{ role: 'user', parts: [{ text: prompt }] }] },
    ],
  } as const;
  const [path, body] = asks[client];
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
  const answer = await fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  await answer.text();
  const id = answer.headers.get('x-request-id') ?? '';
  // Not `expect.poll`, which belongs to one test at a time.
  return vi.waitFor(
    async () => {
      const record = await findRequest(gateway.database, id, gateway.accountId);
      if (record?.outcome == null) throw new Error(`no record of ${id} yet`);
      return record.is_policy_refusal === true;
    },
    { timeout: 20_000 },
  );
}

// Each waits a second for its record.
describe.concurrent.each(textFormats)('the record of a request to a %s route', (format) => {
  it.each([true, false])('says that a policy withheld the answer, streamed: %s', async (isStream) => {
    const prompts = ['withhold it', 'answer it'];
    const seen = await Promise.all(prompts.map((prompt) => isRefused(format, format, prompt, isStream)));
    expect(seen).toEqual([true, false]);
  });

  it('says so for a client of another format', async () => {
    const client = format === 'chat' ? 'messages' : 'chat';
    expect(await isRefused(client, format, 'withhold it', true)).toBe(true);
  });

  it('says that a policy refused the request', async () => {
    expect(await isRefused(format, format, 'refuse it', false)).toBe(true);
  });
});

it('these requests are counted by account', async () => {
  await isRefused('chat', 'chat', 'withhold it', false);
  const rows = await countUsage(gateway.database, { since: Date.now() - 3_600_000 }, ['account']);
  const [before] = rows.map(({ policyRefusals }) => policyRefusals);
  await isRefused('chat', 'chat', 'refuse it', false);
  await isRefused('chat', 'chat', 'answer it', false);
  const again = await countUsage(gateway.database, { since: Date.now() - 3_600_000 }, ['account']);
  expect(again.map(({ account, policyRefusals }) => [account, policyRefusals])).toEqual([
    [gateway.accountId, (before ?? 0) + 1],
  ]);
});
