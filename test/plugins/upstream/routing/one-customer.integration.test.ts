import { describe, expect, it } from 'vitest';
import type { Route } from '#core/config/catalog/catalog.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { createUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import { attemptsOf, cut, exchangeFor, refusalOf, refuse, routesTo, serve, useRelay } from '../fixture.ts';

const fixture = useRelay();

/** Fails requests that say so, like a server that some bodies crash. */
const fragile =
  (fail: Handler): Handler =>
  (request, response) =>
    (JSON.stringify(request.json()).includes('bad') ? fail : serve)(request, response);
const ask = (routes: readonly Route[], account: string, prompt = 'good') =>
  fixture.relay(exchangeFor(routes, { account, prompt })).then(
    ({ status }) => status,
    () => 503,
  );

/** The turns of one conversation; each has all that was said before. */
const turn = (routes: readonly Route[], index: number) => {
  const history: JsonObject[] = Array.from({ length: index }, (_, at) => ({ role: 'assistant', content: `a${at}` }));
  return exchangeFor(routes, { account: 'lone', prompt: 'first', history });
};

describe('one customer whose requests a vendor answers with 500', () => {
  const faults: [string, Handler][] = [
    ['500', refuse(500)],
    ['502', refuse(502)],
    ['a reset', cut],
    ['an error in a 200', (_request, response) => response.json(200, { error: { message: 'no' } })],
  ];
  it.each(faults)(
    'makes the model fail for no other customer, however many conversations it has (%s)',
    async (_name, fault) => {
      await using upstream = await createUpstream(fragile(fault));
      const routes = routesTo(upstream);
      const seen = [];
      for (let burst = 0; burst < 9; burst++) {
        await Promise.all(Array.from({ length: 8 }, (_, index) => ask(routes, 'attacker', `bad ${burst} ${index}`)));
        seen.push(await ask(routes, 'another'));
        fixture.now += 2_000;
      }
      expect(seen).toEqual(Array.from({ length: 9 }, () => 200));
    },
  );

  it('takes it together with an accomplice for the shortest cooldown of a minute, whatever they send', async () => {
    await using upstream = await createUpstream(fragile(refuse(500)));
    const routes = routesTo(upstream);
    let refused = 0;
    for (let second = 0; second < 60; second++) {
      for (const account of ['attacker', 'accomplice'])
        for (const index of [0, 1, 2, 3]) await ask(routes, account, `bad ${second} ${index}`);
      if ((await ask(routes, 'another')) !== 200) refused++;
      fixture.now += 1_000;
    }
    expect(refused).toBeLessThanOrEqual(5);
  });
});

describe('a vendor that tells one customer to come back much later', () => {
  it('is asked by another one after a cooldown, and then by all others', async () => {
    await using upstream = await createUpstream(fragile(refuse(503, { 'retry-after': '600' })));
    const routes = routesTo(upstream);
    await ask(routes, 'attacker', 'bad');
    expect(await ask(routes, 'another')).toBe(503);
    fixture.now += 5_000;
    for (const account of ['another', 'third', 'another']) expect(await ask(routes, account)).toBe(200);
    const { code, details } = await refusalOf(fixture.relay(exchangeFor(routes, { account: 'attacker' })));
    expect([code, details.retryAfter]).toEqual(['unavailable', 595]);
    fixture.now += 595_000;
    expect(await ask(routes, 'attacker')).toBe(200);
  });
});

describe('a lone customer whose primary hangs', () => {
  it('waits for it twice, then after half a minute, a minute and so on', async () => {
    fixture.reopen({ firstByteTimeout: 0.05 });
    await using hanging = await createUpstream(() => undefined);
    await using backup = await createUpstream(serve);
    const routes = routesTo(hanging, backup);
    // What a route gives up after 50 ms may not have reached a busy server, so attempts count, not the server's requests.
    let tries = 0;
    const say = async (index: number) => {
      const exchange = turn(routes, index);
      expect((await fixture.relay(exchange)).status).toBe(200);
      tries += attemptsOf(exchange).filter((attempt) => attempt.startsWith('u0/')).length;
    };
    for (let index = 0; index < 12; index++) await say(index);
    expect(tries).toBe(2);
    for (const pause of [30_000, 60_000, 120_000]) {
      const before = tries;
      fixture.now += pause - 1;
      await say(12);
      expect(tries).toBe(before);
      fixture.now += 1;
      for (let index = 0; index < 3; index++) await say(13);
      expect(tries).toBe(before + 1);
    }
    expect(fixture.health.getStatuses(routes).map(({ state }) => state)).toEqual(['closed', 'closed']);
  });

  it('asks it first again once it has served', async () => {
    await using primary = await createUpstream([cut, cut, serve, cut, serve]);
    await using backup = await createUpstream(serve);
    const routes = routesTo(primary, backup);
    for (let index = 0; index < 2; index++) await fixture.relay(turn(routes, index));
    fixture.now += 30_000;
    const served = [];
    for (let index = 0; index < 3; index++) {
      const exchange = turn(routes, index);
      await fixture.relay(exchange);
      served.push(attemptsOf(exchange).at(-1));
    }
    expect(served).toEqual(['u0/model-there served 200', 'u1/model-there served 200', 'u0/model-there served 200']);
  });

  it('is still served by it where there is no other route', async () => {
    await using upstream = await createUpstream([refuse(500), refuse(500), serve]);
    const routes = routesTo(upstream);
    const statuses = [];
    for (let index = 0; index < 3; index++) statuses.push(await ask(routes, 'lone'));
    expect(statuses).toEqual([503, 503, 200]);
  });
});

describe('a route that nobody else asks', () => {
  it('is tried again after one cooldown by the customer who opened its breaker', async () => {
    await using upstream = await createUpstream([...Array.from({ length: 5 }, () => refuse(503)), serve]);
    const routes = routesTo(upstream);
    for (let index = 0; index < 5; index++) await ask(routes, 'lone', `p${index}`);
    expect(await ask(routes, 'lone')).toBe(503);
    fixture.now += 5_000;
    expect(await ask(routes, 'lone')).toBe(200);
    expect(upstream.requests).toHaveLength(6);
  });

  it('is tried again after two cooldowns by one of two customers who opened its breaker', async () => {
    await using upstream = await createUpstream([...Array.from({ length: 5 }, () => refuse(500)), serve, serve]);
    const routes = routesTo(upstream);
    for (let index = 0; index < 5; index++) await ask(routes, index < 3 ? 'a' : 'b', `p${index}`);
    fixture.now += 5_000;
    expect(await ask(routes, 'a')).toBe(503);
    fixture.now += 5_000;
    expect(await ask(routes, 'b')).toBe(200);
    expect(await ask(routes, 'a')).toBe(200);
  });

  it('serves others while its probe is slow', async () => {
    const released = Promise.withResolvers<void>();
    const slow: Handler = async (request, response) => {
      await released.promise;
      await serve(request, response);
    };
    await using upstream = await createUpstream([...Array.from({ length: 5 }, () => refuse(503)), slow, serve]);
    const routes = routesTo(upstream);
    for (let index = 0; index < 5; index++) await ask(routes, `a${index}`);
    fixture.now += 5_000;
    const probe = ask(routes, 'slow');
    await expect.poll(() => upstream.requests.length).toBe(6);
    expect(await ask(routes, 'b')).toBe(503);
    fixture.now += 5_000;
    expect(await ask(routes, 'b')).toBe(200);
    released.resolve();
    expect(await probe).toBe(200);
  });
});
