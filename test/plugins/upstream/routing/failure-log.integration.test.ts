import { beforeEach, describe, expect, it } from 'vitest';
import { createUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import {
  breakingOff,
  cut,
  exchangeFor,
  refusalOf,
  refuse,
  routesTo,
  routeTo,
  serve,
  textOf,
  upstreamAt,
  useRelay,
} from '../fixture.ts';

const lines: string[] = [];
// Each line names the request; the rest is what the tests are about.
const fixture = useRelay({}, (line) => lines.push(line.slice(25).trim().replace(' for req_test', '')));
beforeEach(() => {
  lines.length = 0;
});

/** Sends requests to two routes that do this. */
async function ask(handlers: readonly [Handler, Handler], count = 1): Promise<void> {
  await using first = await createUpstream(handlers[0]);
  await using second = await createUpstream(handlers[1]);
  const routes = routesTo(first, second);
  for (let sent = 0; sent < count; sent++) {
    const exchange = exchangeFor(routes, { account: `account ${sent}` });
    await fixture.relay(exchange).catch(() => undefined);
  }
}

describe('the log of failing routes', () => {
  it('the log of failing routes has the first failure, long before a breaker opens, with what follows', async () => {
    await ask([refuse(503), serve]);
    expect(lines).toEqual([
      'warn  route u0/model-there failed, asking u1/model-there: route: The upstream is overloaded (status 503).',
    ]);
  });

  it('the log of failing routes has a throttled route', async () => {
    await ask([refuse(429, { 'retry-after': '7' }), serve]);
    expect(lines).toEqual([
      'warn  route u0/model-there failed, asking u1/model-there: throttled: 429 retry after 7 s (secret words of the vendor)',
    ]);
  });

  it('the log of failing routes notes that no route is left', async () => {
    await ask([cut, refuse(500)]);
    expect(lines.map((line) => line.split(':')[0])).toEqual([
      'warn  route u0/model-there failed, asking u1/model-there',
      'warn  route u1/model-there failed, no route left',
    ]);
  });

  it('the log of failing routes has one line a minute for a route, with the number of failures in between', async () => {
    await ask([refuse(500), serve], 4);
    expect(lines).toHaveLength(1);
    fixture.now += 60_000;
    await ask([refuse(500), serve]);
    expect(lines).toHaveLength(2 + (lines.some((line) => line.includes('breaker')) ? 1 : 0));
    expect(lines.filter((line) => line.includes(' failed, '))[1]).toMatch(/ \(3 more since the last line\)$/);
  });

  it('the log of failing routes leaves a refused key to its own line, and a refused request to the client', async () => {
    await ask([refuse(401), refuse(400)]);
    expect(lines).toEqual([expect.stringContaining('upstream u0 rejected key 1 of 1')]);
  });

  it('the log of failing routes has an answer that breaks after its first content', async () => {
    await using upstream = await createUpstream(breakingOff('half', fixture));
    const reply = await fixture.relay(exchangeFor([routeTo(upstreamAt(upstream.url))], { isStream: true }));
    await refusalOf(textOf(reply));
    expect(lines).toEqual([
      expect.stringMatching(/^warn {2}route one\/model-there failed, ending an answer with an error: route: /),
    ]);
  });

  it('the log of failing routes names a status once', async () => {
    await ask([refuse(500), serve], 5);
    const opened = lines.find((line) => line.includes('breaker opened'));
    expect(opened?.match(/500/g)).toHaveLength(1);
  });
});
