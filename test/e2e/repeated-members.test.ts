import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let upstream: FaultyUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await createUpstream((_request, response) =>
    response.json(200, {
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    }),
  );
  const yaml = [
    'pipeline: [auth, cache, format, upstream, log]',
    `upstreams: { there: { format: chat, base_url: "${upstream.url}/v1" } }`,
    'models: { echo: { routes: [there/m] } }',
    '',
  ].join('\n');
  gateway = await startGateway({ yaml });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});

const messages = '"messages":[{"role":"user","content":"hi"}]';

it.each([
  ['a second model', `{"model":"other",${messages},"model":"echo"}`],
  ['one written with escapes', String.raw`{"mod\u0065l":"other",${messages},"model":"echo"}`],
  ['one in another case', `{"Model":"other",${messages},"model":"echo"}`],
  ['a second stream', `{"model":"echo","stream":true,${messages},"stream":false}`],
])('a body with %s reaches the upstream with what was authorised', async (_what, body) => {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body,
  });
  expect(answer.status).toBe(200);
  const sent = String(upstream.requests.at(-1)?.body);
  expect(sent.match(/"[^"]*model"\s*:\s*"[^"]*"/gi)).toEqual(['"model":"m"']);
  expect(sent).not.toMatch(/other|true|\\u/);
});
