import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { findRequest } from '#core/gateway/records/read-requests.ts';
import { answer } from '../plugins/upstream/fixture.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readBody } from '../support/read-body.ts';

/** Resolves what the vendor holds back. */
let open = Promise.withResolvers<void>();
/** Refusals before the vendor answers. */
let refusals = 0;

const vendor: Handler = async ({ body }, response) => {
  if (refusals > 0) {
    refusals--;
    return response.json(429, { error: { message: 'slow down' } }, { 'retry-after-ms': '200' });
  }
  if (body.includes('hold')) await Promise.race([open.promise, response.closed]);
  response.json(200, answer);
};

let upstream: FaultyUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await createUpstream(vendor, { keeps: false });
  gateway = await startGateway({
    yaml: `
pipeline:
  - auth
  - plan
  - rate-limit: { limit: 100000, period: 1, burst: 100000, concurrent: 10000 }
  - format
  - upstream: { keep_alive_after: 0.3, queue: { wait: 1 } }
  - log
upstreams: { scarce: { format: chat, base_url: "${upstream.url}/v1", capacity: { concurrent: 1 } } }
models: { test: { routes: [scarce/model-there] } }
`,
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});

function ask(content: string, more: object = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'test', messages: [{ role: 'user', content }], ...more }),
  });
}

/** The record of a request, once it has reached the database. */
async function recordOf(response: Response): Promise<RequestRecord | undefined> {
  const find = () => findRequest(gateway.database, response.headers.get('x-request-id') ?? '');
  await expect.poll(async () => (await find())?.outcome, { timeout: 15_000 }).toBe('answered');
  return find();
}

/** Takes the only slot. @returns what frees it */
async function occupy(): Promise<() => Promise<void>> {
  open = Promise.withResolvers();
  const held = ask('hold');
  await expect.poll(() => metric('daypass_upstream_slots_used{upstream="scarce"}')).toBe(1);
  return async () => {
    open.resolve();
    expect((await held).status).toBe(200);
  };
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${gateway.operatorUrl}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1) ?? Number.NaN);
}

it('a request that waited for a slot is answered, and its record and the metrics say how long', async () => {
  const free = await occupy();
  const waiting = ask('hi');
  await expect.poll(() => metric('daypass_queue_waiting{model="test"}')).toBe(1);
  await free();
  const response = await waiting;
  expect([response.status, response.headers.get('x-daypass-queue')]).toEqual([200, expect.stringMatching(/^waited=/)]);
  const record = await recordOf(response);
  expect(record?.queue_ms).toBeGreaterThan(0);
  expect(await metric('daypass_queue_seconds_count{model="test",outcome="answered"}')).toBeGreaterThan(0);
});

it('a whole call whose wait is over gets 429 with Retry-After and its place', async () => {
  const free = await occupy();
  const response = await ask('hi');
  expect(response.status).toBe(429);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(response.headers.get('x-daypass-queue')).toMatch(/^position=1, expected=\d+\.\d, waited=1\.\d$/);
  await free();
});

it('a stream that waits longer than keep_alive_after is kept alive, and ends with the error', async () => {
  const free = await occupy();
  const response = await ask('hi', { stream: true });
  expect([response.status, response.headers.get('x-daypass-queue')]).toEqual([
    200,
    expect.stringMatching(/^position=1, expected=\d+\.\d, waited=0\.\d$/),
  ]);
  const { text } = await readBody(response);
  expect(text).toContain('rate_limit');
  expect(text).toContain('none became free within 1 s');
  await free();
});

it('a request that its vendor throttles for less than the wait is sent again', async () => {
  refusals = 1;
  const response = await ask('hi');
  expect(response.status).toBe(200);
  const record = await recordOf(response);
  expect(record?.attempts?.map(({ outcome }) => outcome)).toEqual(['failed', 'served']);
});

it('a client that leaves while it waits gives up its place', async () => {
  const free = await occupy();
  const leaving = new AbortController();
  const left = fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'test', messages: [{ role: 'user', content: 'hi' }] }),
    signal: leaving.signal,
  }).catch(() => undefined);
  await expect.poll(() => metric('daypass_queue_waiting{model="test"}')).toBe(1);
  leaving.abort();
  await left;
  await expect.poll(() => metric('daypass_queue_waiting{model="test"}')).toBe(0);
  await free();
});
