import { afterAll, beforeAll, expect, it } from 'vitest';
import { startAnsweringUpstream } from '../support/answering-upstream.ts';
import { createGatewayHome, type GatewayHome, startGateway, type TestGateway, yamlFor } from '../support/gateway.ts';

let upstream: Awaited<ReturnType<typeof startAnsweringUpstream>>;
let inProcess: TestGateway;
let home: GatewayHome;
beforeAll(async () => {
  upstream = await startAnsweringUpstream();
  inProcess = await startGateway({ yaml: yamlFor(upstream.baseUrl) });
  home = await createGatewayHome(yamlFor(upstream.baseUrl));
});
afterAll(async () => {
  await inProcess[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

async function ask(url: string, key: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'test', messages: [{ role: 'user', content: 'hi' }] }),
  });
}

it('a request passes through the whole pipeline and is answered', async () => {
  expect((await ask(inProcess.url, inProcess.key)).status).toBe(200);
});

it('a gateway process answers a request and exits with 0 on SIGTERM', async () => {
  const gateway = await home.start();
  expect((await ask(gateway.url, home.key)).status).toBe(200);
  expect(await gateway.end('SIGTERM')).toBe(0);
});
