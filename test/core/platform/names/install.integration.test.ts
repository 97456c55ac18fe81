import dns, { type LookupAddress } from 'node:dns';
import { lookup as imported } from 'node:dns';
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, isIP } from 'node:net';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { namesCheck } from '#core/gateway/health/process-checks.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { createLogger } from '#core/platform/logger.ts';
import { createLookup, expireName, installNameCache } from '#core/platform/names/install.ts';
import { NameError, type LookupRequest } from '#core/platform/names/name-cache.ts';
import { holdClosedPort } from '../../../support/dead-ends.ts';
import { createUpstream } from '../../../support/faulty-upstream.ts';

const ignore = () => undefined;
const both: LookupAddress[] = [
  { address: '192.0.2.1', family: 4 },
  { address: '2001:db8::1', family: 6 },
];

describe('dns.lookup', () => {
  const questions: LookupRequest[] = [];
  const original = vi.fn() as unknown as typeof dns.lookup;
  const lookup = createLookup(
    {
      find: async (question) => {
        questions.push(question);
        if (question.hostname === 'unknown.example') throw new NameError(question.hostname);
        return both;
      },
    },
    original,
  );
  const ask = promisify(lookup) as unknown as (hostname: string, options?: object | number) => Promise<unknown>;

  beforeEach(() => void questions.splice(0));

  it('returns the first address, or all', async () => {
    expect(await ask('a.example')).toBe('192.0.2.1');
    expect(await ask('a.example', { all: true })).toEqual(both);
  });

  it.each([
    [
      { all: true, family: undefined, hints: 32 },
      { family: 0, hints: 32, order: undefined },
    ],
    [6, { family: 6, hints: 0, order: undefined }],
    [{ family: 'IPv4' }, { family: 4, hints: 0, order: undefined }],
    [
      { family: 'IPv6', order: 'ipv6first' },
      { family: 6, hints: 0, order: 'ipv6first' },
    ],
    [{ verbatim: false }, { family: 0, hints: 0, order: 'ipv4first' }],
  ])('with %j asks for %j', async (options, question) => {
    await ask('A.example', options);
    expect(questions).toEqual([{ hostname: 'a.example', ...question }]);
  });

  it('fails with the error of the name', async () => {
    await expect(ask('unknown.example')).rejects.toBeInstanceOf(NameError);
  });

  it.each(['127.0.0.1', '::1', ''])('leaves "%s" to Node', (hostname) => {
    lookup(hostname, { family: 0 }, ignore);
    expect(original).toHaveBeenLastCalledWith(hostname, { family: 0 }, ignore);
    expect(questions).toEqual([]);
  });
});

function connectRedis(url: string): Promise<void> {
  const client = new Redis(`redis://${url}`, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', ignore);
  return client.connect();
}

describe('once installed', () => {
  const fake = vi.fn(
    (hostname: string, _options: object, callback: (error: Error | null, addresses?: LookupAddress[]) => void) => {
      if (hostname === 'gone.example')
        return callback(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }));
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    },
  );
  const real = dns.lookup;
  const asked = () => fake.mock.calls.map(([hostname]) => hostname).filter((hostname) => isIP(hostname) === 0);
  let installed: Disposable;
  beforeEach(() => {
    fake.mockClear();
    dns.lookup = fake as unknown as typeof dns.lookup;
    installed = installNameCache(createLogger(() => undefined));
  });
  afterEach(() => {
    installed[Symbol.dispose]();
    dns.lookup = real;
  });

  it('serves the connections of node:net and fetch, and asks the system once', async () => {
    await using upstream = await createUpstream((_request, response) => response.json(200, { ok: true }));
    const port = Number(new URL(upstream.url).port);
    const socket = connect(port, 'service.example');
    await once(socket, 'connect');
    socket.destroy();
    expect((await fetch(`http://service.example:${port}/`)).status).toBe(200);
    expect(asked()).toEqual(['service.example']);
  });

  it('asks the system again after a doubt', async () => {
    await promisify(dns.lookup)('service.example');
    expireName('service.example');
    await promisify(dns.lookup)('service.example');
    expect(asked()).toEqual(['service.example', 'service.example']);
  });

  it('serves those who have imported the function by its name', async () => {
    expect(imported).toBe(dns.lookup);
  });

  it('reports a name that does not exist', async () => {
    const [error] = (await once(connect(1, 'gone.example'), 'error')) as [Error];
    expect(error.message).toBe('the name "gone.example" could not be resolved: ENOTFOUND');
  });

  it('can still be promisified', async () => {
    installed[Symbol.dispose]();
    dns.lookup = real;
    installed = installNameCache(createLogger(() => undefined));
    expect(await promisify(dns.lookup)('localhost', 4)).toEqual({ address: '127.0.0.1', family: 4 });
  });

  it('is healthy while the names in use can be resolved', async () => {
    await promisify(dns.lookup)('service.example');
    expect(namesCheck.check({ now: () => 0 } as unknown as Host)).toEqual({ ok: true });
  });

  it.each<[string, (url: string) => unknown]>([
    ['undici', (url) => request(`http://${url}`)],
    ['pg', (url) => new pg.Client(`postgres://daypass@${url}/daypass`).connect()],
    ['ioredis', connectRedis],
    ['node:http, which sign-in providers are asked by', (url) => once(get(`http://${url}`), 'response')],
  ])('serves %s', async (_name, connectTo) => {
    await using closed = await holdClosedPort();
    await expect(connectTo(`service.example:${closed.port}`)).rejects.toThrow();
    expect(asked()).toEqual(['service.example']);
  });

  it('is undone by its disposal', () => {
    installed[Symbol.dispose]();
    expect(dns.lookup).toBe(fake);
  });
});
