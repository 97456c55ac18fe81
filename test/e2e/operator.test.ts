import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '#core/platform/logger.ts';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import { createGatewayHome, startGateway, type TestGateway, yamlFor } from '../support/gateway.ts';

let upstream: FaultyUpstream;
let gateway: TestGateway;
const lines: string[] = [];
beforeAll(async () => {
  upstream = await createUpstream((_request, response) => response.json(503, { error: { message: 'down' } }));
  gateway = await startGateway({
    yaml: yamlFor(`${upstream.url}/v1`),
    log: createLogger((line) => void lines.push(line)),
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** `fetch` cannot set Host. */
async function get(url: string, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  request(url, { headers }, (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (part: string) => (text += part));
    response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
  })
    .once('error', reject)
    .end();
  return promise;
}

/** What proxies add, and nothing, as nginx with a plain `proxy_pass`. */
const senders: readonly Record<string, string>[] = [
  {},
  { 'x-real-ip': '203.0.113.9' },
  { 'cf-connecting-ip': '203.0.113.9' },
  { 'true-client-ip': '203.0.113.9' },
  { via: '1.1 proxy' },
  { 'x-forwarded-proto': 'https' },
  { 'x-forwarded-for': '127.0.0.1' },
  { forwarded: 'for=127.0.0.1' },
  { host: 'attacker.example' },
  { authorization: 'Bearer x' },
];

describe('the public listener', () => {
  it.each(senders)('has no metrics for a request from this machine with %o', async (headers) => {
    expect((await get(`${gateway.url}/metrics`, headers)).status).toBe(404);
  });

  it.each(senders)('reports only that it is ready to one with %o', async (headers) => {
    const { status, text } = await get(`${gateway.url}/readyz?verbose`, headers);
    expect([status, JSON.parse(text)]).toEqual([200, { status: 'ok' }]);
  });

  it.each(senders)('shows no route on the front page to one with %o', async (headers) => {
    const { status, text } = await get(`${gateway.url}/`, { accept: 'text/html', ...headers });
    expect(status).toBe(200);
    expect(text).not.toContain('one/model-there');
  });
});

describe('the operator listener', () => {
  it.each(['/metrics', '/readyz?verbose', '/readyz', '/livez'])('answers %s', async (path) => {
    expect((await get(`${gateway.operatorUrl}${path}`)).status).toBe(200);
  });

  it.each(['/', '/v1/models', '/v1/key'])('has nothing at %s', async (path) => {
    expect((await get(`${gateway.operatorUrl}${path}`, { authorization: `Bearer ${gateway.key}` })).status).toBe(404);
  });

  it('refuses a page whose host name was rebound to this machine', async () => {
    const { status, text } = await get(`${gateway.operatorUrl}/metrics`, { host: 'attacker.example' });
    expect([status, text.includes('daypass')]).toEqual([421, false]);
  });

  it('keeps its port when gateway.yaml is reloaded with another one, and logs it', async () => {
    await gateway.write(`${yamlFor(`${upstream.url}/v1`)}operator: { port: 1, names: [gateway.internal] }\n`);
    await gateway.gateway.reload();
    expect(lines.join('\n')).toMatch(/operator\.port has changed in .*it takes effect at the next start/);
    expect((await get(`${gateway.operatorUrl}/livez`, { host: 'gateway.internal' })).status).toBe(200);
  });
});

it('a start whose port for the operator is in use fails and says what to change', async () => {
  const { port } = new URL(gateway.operatorUrl);
  await using home = await createGatewayHome(`${yamlFor(`${upstream.url}/v1`)}operator: { port: ${port} }\n`);
  const failure: unknown = await home.start().catch((error: unknown) => error);
  expect(String(failure)).toContain(
    `cannot listen on http://127.0.0.1:${port} for the operator: the port is in use; set operator.port to another one`,
  );
  expect(String(failure)).not.toContain('could not be released');
});
