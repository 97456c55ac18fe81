import { describe, expect, it } from 'vitest';
import { createUpstream } from '../../../support/faulty-upstream.ts';
import { attemptsOf, exchangeFor, refusalOf, refuse, routesTo, serve, useRelay } from '../fixture.ts';

const fixture = useRelay();

const busy = (status: number, seconds: number) => refuse(status, { 'retry-after': String(seconds) });
const waitOf = async (routes: ReturnType<typeof routesTo>) => {
  const { code, details } = await refusalOf(fixture.relay(exchangeFor(routes)));
  return [code, details.retryAfter];
};

describe('a route that answers with Retry-After', () => {
  it.each([500, 502, 503, 529])('is not asked before with status %i; another one is', async (status) => {
    await using first = await createUpstream(busy(status, 30));
    await using second = await createUpstream(serve);
    const routes = routesTo(first.url, second.url);
    for (let count = 0; count < 8; count++) expect((await fixture.relay(exchangeFor(routes))).status).toBe(200);
    expect([first.requests.length, second.requests.length]).toEqual([1, 8]);
  });

  it('is asked again afterwards, and serves', async () => {
    await using upstream = await createUpstream([busy(503, 30), serve, serve]);
    const routes = routesTo(upstream.url);
    await refusalOf(fixture.relay(exchangeFor(routes)));
    fixture.now += 30_000;
    for (let count = 0; count < 2; count++) {
      const exchange = exchangeFor(routes);
      await fixture.relay(exchange);
      expect(attemptsOf(exchange)).toEqual(['u0/model-there served 200']);
    }
  });

  it('gives a client that no route serves its Retry-After, and later the time left of it', async () => {
    await using upstream = await createUpstream(busy(503, 30));
    const routes = routesTo(upstream.url);
    expect(await waitOf(routes)).toEqual(['unavailable', 30]);
    fixture.now += 10_000;
    expect(await waitOf(routes)).toEqual(['unavailable', 20]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('gives the client the shortest Retry-After of all routes', async () => {
    await using first = await createUpstream(busy(503, 7));
    await using second = await createUpstream(busy(503, 30));
    expect(await waitOf(routesTo(first.url, second.url))).toEqual(['unavailable', 7]);
    fixture.now += 2_000;
    expect(await waitOf(routesTo(first.url, second.url))).toEqual(['unavailable', 5]);
  });

  it('is skipped for an hour at most', async () => {
    await using upstream = await createUpstream([busy(503, 86_400), serve]);
    const routes = routesTo(upstream.url);
    expect(await waitOf(routes)).toEqual(['unavailable', 3_600]);
    fixture.now += 3_600_000;
    expect((await fixture.relay(exchangeFor(routes))).status).toBe(200);
  });
});
