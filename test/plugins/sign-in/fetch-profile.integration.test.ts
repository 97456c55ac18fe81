import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fetchProfile } from '../../../plugins/sign-in/providers/fetch-profile.ts';

afterEach(() => vi.restoreAllMocks());

async function startProvider(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/userinfo`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('a profile', () => {
  it('of 256 KB is read, and one with a byte more is refused', async () => {
    const name = 'x'.repeat(262_144 - '{"name":""}'.length);
    await using provider = await startProvider(({ url }, response) =>
      response.end(JSON.stringify({ name: url === '/userinfo' ? name : `${name}x` })),
    );
    expect(await fetchProfile(provider.url, 'token')).toEqual({ name });
    await expect(fetchProfile(`${provider.url}2`, 'token')).rejects.toThrow('larger than 262144 bytes');
  });

  it('is asked for with the token, and not where a redirect leads', async () => {
    const seen: unknown[] = [];
    await using provider = await startProvider(({ url, headers }, response) => {
      seen.push([url, headers.authorization]);
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    await expect(fetchProfile(provider.url, 'token')).rejects.toThrow();
    expect(seen).toEqual([['/userinfo', 'Bearer token']]);
  });

  it.each([
    ['does not answer', () => undefined],
    ['stops in the middle', (_request, response) => void response.write('{')],
  ] as [string, RequestListener][])('is given up after ten seconds when the provider %s', async (_how, answer) => {
    await using provider = await startProvider(answer);
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    // A hundredth of the time.
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 100));
    const begun = performance.now();
    await expect(fetchProfile(provider.url, 'token')).rejects.toThrow(/abort|timeout/i);
    expect(performance.now() - begun).toBeGreaterThan(90);
  });
});
