import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway, yamlFor } from '../support/gateway.ts';

/** A message of the upstream, which knows no seed. */
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'model-there',
  content: [{ type: 'text', text: 'hi' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
};

let upstream: FaultyUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await createUpstream((_request, response) => response.json(200, message));
  gateway = await startGateway({ yaml: yamlFor(upstream.url, 'messages') });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

it.each([
  ['Chat', '/v1/chat/completions', { model: 'test', seed: 0, messages: [{ role: 'user', content: 'hi' }] }],
  [
    'Gemini',
    '/v1beta/models/test:generateContent',
    { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], generationConfig: { seed: 7 } },
  ],
])('a seed of a %s client is noted where the route cannot take it', async (_name, path, body) => {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-daypass-notes')).toBe('dropped seed');
  expect(upstream.requests.at(-1)?.json()).not.toHaveProperty('seed');
});
