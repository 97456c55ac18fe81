import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const yaml = `
pipeline: [auth, plan, rate-limit, cache, format, upstream, log]
upstreams: { demo: { vendor: demo } }
models: { small: { routes: [demo/chatty] } }
aliases: { claude-small-4: small, "claude-*": small }
`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ yaml });
});
afterAll(() => gateway[Symbol.asyncDispose]());

interface Caller {
  readonly url: string;
  readonly key: string;
}

const get = (path: string, { url, key }: Caller = gateway) =>
  fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });

const post = (path: string, body: object, { url, key }: Caller = gateway) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function namesFor(caller?: Caller): Promise<string[]> {
  const { data } = (await (await get('/v1/models', caller)).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

const messages = [{ role: 'user', content: 'hi' }];
const ask = (model: string, caller?: Caller) => post('/v1/messages', { model, max_tokens: 50, messages }, caller);

describe('the catalog for a key', () => {
  it('lists public names and exact aliases', async () => {
    expect(await namesFor()).toEqual(['dp/small', 'dp/claude-small-4']);
  });

  it.each([
    ['dp/small', 'dp/small'],
    ['dp%2Fsmall', 'dp/small'],
    ['small', 'dp/small'],
    ['claude-small-4', 'claude-small-4'],
    ['claude-large-9', 'claude-large-9'],
  ])('has a model at the path %s', async (path, id) => {
    expect(await (await get(`/v1/models/${path}`)).json()).toMatchObject({ id, type: 'model' });
  });

  it('is empty without a plan, with the reason in a header', async () => {
    const { key } = await createAccount(gateway.database, 'dp', { name: 'Without' });
    const caller = { url: gateway.url, key };
    expect(await namesFor(caller)).toEqual([]);
    const { headers } = await get('/v1/models', caller);
    expect(headers.get('x-daypass-notice')).toMatch(/^No active plan\. Choose one at http/);
    expect((await get('/v1/models/dp/small', caller)).status).toBe(402);
  });
});

it.each([
  ['small', 'dp/small'],
  ['dp/small', 'dp/small'],
  ['claude-small-4', 'claude-small-4'],
  ['claude-large-9', 'claude-large-9'],
])('an answer and its record name the model that was requested as %s', async (requested, name) => {
  const response = await ask(requested);
  expect(await response.json()).toMatchObject({ model: name });
  const id = response.headers.get('x-request-id') ?? response.headers.get('request-id');
  await vi.waitFor(
    async () => {
      const rows = await gateway.database.query('select model from request_log where id = ?', [id]);
      expect(rows).toEqual([{ model: name }]);
    },
    { timeout: 15_000, interval: 50 },
  );
});

it('a model that does not exist is not found, with the nearest public name', async () => {
  const response = await ask('openai/small');
  expect(response.status).toBe(404);
  expect(await response.text()).toContain('Model \\"openai/small\\" not found. Did you mean \\"dp/small\\"?');
});

it('25 concurrent token counts pass by default, and have a limit separate from that of model calls', async () => {
  const counts = await Promise.all(
    Array.from({ length: 25 }, () => post('/v1/messages/count_tokens', { model: 'dp/small', messages })),
  );
  expect(counts.map(({ status }) => status)).toEqual(Array.from({ length: 25 }, () => 200));
  expect(counts[0]?.headers.get('anthropic-ratelimit-requests-limit')).toBe('600');
  expect((await ask('dp/small')).headers.get('anthropic-ratelimit-requests-limit')).toBe('60');
});

it('a reload that changes the prefix renames every model', async () => {
  await using renamed = await startGateway({ yaml });
  await renamed.write(`service: { prefix: rumah }\n${yaml}`);
  expect(await renamed.gateway.reload()).toBe(true);
  const period = { days: 1, reason: 'grant', label: 'test' } as const;
  const { key } = await createAccount(renamed.database, 'rumah', { name: 'New', period });
  const there = { url: renamed.url, key };
  expect(await namesFor(there)).toEqual(['rumah/small', 'rumah/claude-small-4']);
  for (const name of ['rumah/small', 'small'])
    expect(await (await ask(name, there)).json()).toMatchObject({ model: 'rumah/small' });
  expect(await (await ask('dp/small', there)).text()).toContain('Did you mean \\"rumah/small\\"?');
});
