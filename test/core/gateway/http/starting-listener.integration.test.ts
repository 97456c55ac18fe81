import { once } from 'node:events';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createListener } from '#core/gateway/http/listener.ts';
import { StartingListener } from '#core/gateway/http/starting-listener.ts';

const place = { host: '127.0.0.1', port: 0 };
const onError = () => undefined;
let listener: ReturnType<typeof createListener>;
let starting: StartingListener;
beforeEach(() => {
  listener = createListener();
  listener.on('request', (request, response) => response.end(`served ${request.url}`));
});
afterEach(() => starting[Symbol.asyncDispose]());

const portOf = () => (listener.address() as AddressInfo).port;
const ask = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${portOf()}${path}`, init);

describe('a gateway that has started for a while', () => {
  beforeEach(async () => {
    starting = new StartingListener({ listener, address: place, onError, delayMs: 0 });
    await vi.waitFor(() => expect(listener.listening).toBe(true));
  });

  it('is alive and not ready', async () => {
    const [alive, ready] = await Promise.all([ask('/livez'), ask('/readyz?verbose')]);
    expect([alive.status, await alive.json()]).toEqual([200, { status: 'ok' }]);
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'starting' }]);
  });

  it('tells clients in their own format to try again', async () => {
    const anthropic = await ask('/v1/messages', {
      method: 'POST',
      body: '{}',
      headers: { 'anthropic-version': '2023-06-01' },
    });
    expect([anthropic.status, anthropic.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await anthropic.json()).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
    const openai = await ask('/v1/chat/completions', { method: 'POST', body: '{}' });
    expect(await openai.json()).toMatchObject({ error: { code: 'server_is_overloaded' } });
  });

  it('answers as before once it serves, on the same port', async () => {
    const port = portOf();
    await starting.serve();
    expect(await (await ask('/livez')).text()).toBe('served /livez');
    expect(portOf()).toBe(port);
  });
});

it('a start that is over soon opens no port before it serves', async () => {
  starting = new StartingListener({ listener, address: place, onError });
  expect(listener.listening).toBe(false);
  await starting.serve();
  expect(await (await ask('/v1/models')).text()).toBe('served /v1/models');
});

it('a worker opens no port before it serves if other workers serve already', async () => {
  starting = new StartingListener({ listener, address: place, onError, delayMs: Infinity });
  expect(listener.listening).toBe(false);
});

it('a port in use ends the start at once, with the setting to change', async () => {
  const other = createTcpServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  starting = new StartingListener({ listener, address: { ...place, port }, onError, delayMs: 0 });
  await once(starting.failureSignal, 'abort');
  expect(String(starting.failureSignal.reason)).toContain('listen.port');
  await new Promise((resolve) => other.close(resolve));
});
