import { beforeEach, describe, expect, it } from 'vitest';
import { availabilityOf } from '#core/business/model-health/trouble.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import { answer, attemptsOf, exchangeFor, routesTo, routeTo, upstreamAt, useRelay } from '../fixture.ts';

const serve: Handler = (_request, response) => response.json(200, answer);
const notThere: Handler = (_request, response) =>
  response.json(404, { error: { message: 'The model `m` does not exist', code: 'model_not_found' } });

const lines: string[] = [];
const fixture = useRelay({}, (line) => lines.push(line));
beforeEach(() => {
  lines.length = 0;
});

const askOver = async (...upstreams: FaultyUpstream[]): Promise<string[]> => {
  const exchange = exchangeFor(routesTo(...upstreams));
  await fixture.relay(exchange).catch(() => undefined);
  return attemptsOf(exchange);
};

describe('a route that does not have the model', () => {
  it('a route that does not have the model is not asked first by the next requests', async () => {
    await using first = await createUpstream(notThere);
    await using second = await createUpstream(serve);
    expect(await askOver(first, second)).toEqual(['u0/model-there failed 404', 'u1/model-there served 200']);
    expect(await askOver(first, second)).toEqual(['u1/model-there served 200']);
  });

  it('a route that does not have the model is asked when no other serves', async () => {
    await using first = await createUpstream([notThere, serve]);
    await using second = await createUpstream((_request, response) => response.reset());
    await askOver(first, second);
    expect(await askOver(first, second)).toEqual(['u1/model-there failed', 'u0/model-there served 200']);
    expect(fixture.health.isAvailable(routeTo(upstreamAt(first.url, { name: 'u0' })))).toBe(true);
  });

  it('a route that does not have the model is tried again after a minute, and cools down for twice as long each time', async () => {
    await using first = await createUpstream(notThere);
    await using second = await createUpstream(serve);
    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
      expect(await askOver(first, second)).toHaveLength(2);
      fixture.now += minutes * 60_000 - 1;
      expect(await askOver(first, second)).toHaveLength(1);
      fixture.now += 1;
    }
  });

  it('a route that does not have the model starts with the shortest cooldown again once it has served', async () => {
    await using first = await createUpstream([notThere, notThere, serve, notThere]);
    await using second = await createUpstream(serve);
    await askOver(first, second);
    fixture.now += 60_000;
    await askOver(first, second);
    fixture.now += 120_000;
    expect(await askOver(first, second)).toEqual(['u0/model-there served 200']);
    await askOver(first, second);
    fixture.now += 60_000;
    expect(await askOver(first, second)).toHaveLength(2);
  });

  it('a route that does not have the model is shown, with the reason and for how long, and logged once', async () => {
    await using first = await createUpstream(notThere);
    await using second = await createUpstream(serve);
    await Promise.all([askOver(first, second), askOver(first, second), askOver(first, second)]);
    expect(fixture.health.getStatuses(routesTo(first, second))).toEqual([
      {
        route: 'u0/model-there',
        state: 'no_model',
        open_until: new Date(fixture.now + 60_000).toISOString(),
        reason: 'no_model: The upstream responded with status 404.',
      },
      { route: 'u1/model-there', state: 'closed', open_until: null, reason: null },
    ]);
    expect(lines.filter((line) => line.includes('u0/model-there'))).toHaveLength(1);
    expect(lines.join('')).toContain(
      'route u0/model-there is tried last for 60 s: no_model: The upstream responded with status 404.',
    );
  });

  it('a route that did not have the model is unproven after its cooldown, until it serves', async () => {
    await using first = await createUpstream([notThere, serve]);
    await using second = await createUpstream(serve);
    await askOver(first, second);
    fixture.now += 60_000;
    const state = () => fixture.health.getStatuses(routesTo(first, second))[0]?.state;
    expect(state()).toBe('half_open');
    expect(availabilityOf(fixture.health.getStatuses(routesTo(first, second))[0])).toBe('unproven');
    await askOver(first, second);
    expect(state()).toBe('closed');
  });

  it('a route that does not have the model is available again once an operator resets it', async () => {
    await using first = await createUpstream(notThere);
    await using second = await createUpstream(serve);
    await askOver(first, second);
    fixture.health.reset('u0/model-there');
    expect(await askOver(first, second)).toHaveLength(2);
  });
});
