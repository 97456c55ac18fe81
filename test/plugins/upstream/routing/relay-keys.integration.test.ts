import { describe, expect, it } from 'vitest';
import { createUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import { attemptsOf, cut, exchangeFor, refusalOf, refuse, routeTo, serve, upstreamAt, useRelay } from '../fixture.ts';

const fixture = useRelay();

describe('keys', () => {
  it('keys are used in turn', async () => {
    await using upstream = await createUpstream(serve);
    const route = routeTo(upstreamAt(upstream.url, { apiKeys: ['a', 'b'] }));
    for (const _ of [1, 2, 3]) await fixture.relay(exchangeFor([route]));
    expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer a', 'Bearer b', 'Bearer a']);
  });

  it.each([401, 429])('keys that are not accepted (%i) cost a key and not a route', async (status) => {
    await using upstream = await createUpstream([refuse(status), serve]);
    const exchange = exchangeFor([routeTo(upstreamAt(upstream.url, { apiKeys: ['a', 'b'] }))]);
    await fixture.relay(exchange);
    expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer a', 'Bearer b']);
    expect(attemptsOf(exchange)).toEqual([`one/model-there failed ${status}`, 'one/model-there served 200']);
  });

  it('keys that are not accepted count as attempts', async () => {
    await using upstream = await createUpstream(refuse(401));
    const there = upstreamAt(upstream.url, { apiKeys: ['a', 'b', 'c', 'd', 'e'] });
    await refusalOf(fixture.relay(exchangeFor([routeTo(there)])));
    expect(upstream.requests).toHaveLength(3);
  });

  it('keys that all cool down give way to the next route', async () => {
    await using first = await createUpstream(refuse(401));
    await using second = await createUpstream(serve);
    const exchange = exchangeFor([
      routeTo(upstreamAt(first.url, { apiKeys: ['a', 'b'] })),
      routeTo(upstreamAt(second.url, { name: 'two' })),
    ]);
    await fixture.relay(exchange);
    expect(attemptsOf(exchange)).toEqual([
      'one/model-there failed 401',
      'one/model-there failed 401',
      'two/model-there served 200',
    ]);
  });

  it('keys leave the last attempt to another route, however many keys there are', async () => {
    await using first = await createUpstream(refuse(401));
    await using second = await createUpstream(serve);
    const exchange = exchangeFor([
      routeTo(upstreamAt(first.url, { apiKeys: ['a', 'b', 'c', 'd'] })),
      routeTo(upstreamAt(second.url, { name: 'two' })),
    ]);
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect(attemptsOf(exchange)).toHaveLength(3);
  });

  it('keys that all cool down are not used again while another route has an available one', async () => {
    await using first = await createUpstream([refuse(401), serve]);
    await using second = await createUpstream(serve);
    const there = [routeTo(upstreamAt(first.url)), routeTo(upstreamAt(second.url, { name: 'two' }))];
    await fixture.relay(exchangeFor(there));
    await fixture.relay(exchangeFor(there));
    expect([first.requests.length, second.requests.length]).toEqual([1, 2]);
    fixture.now += 61_000;
    await fixture.relay(exchangeFor(there));
    expect([first.requests.length, second.requests.length]).toEqual([2, 2]);
  });

  it('keys that are all cooling down are used anyway when there is no other route', async () => {
    await using only = await createUpstream([refuse(401), serve]);
    const there = [routeTo(upstreamAt(only.url))];
    await refusalOf(fixture.relay(exchangeFor(there)));
    expect((await fixture.relay(exchangeFor(there))).status).toBe(200);
  });

  it('keys that were throttled cool down for the Retry-After of the upstream', async () => {
    await using upstream = await createUpstream([refuse(429, { 'retry-after': '20' }), serve, serve, serve]);
    const route = routeTo(upstreamAt(upstream.url, { apiKeys: ['a', 'b'] }));
    await fixture.relay(exchangeFor([route]));
    await fixture.relay(exchangeFor([route]));
    fixture.now += 20_000;
    await fixture.relay(exchangeFor([route]));
    // The one that was never throttled comes first.
    expect(upstream.requests.map(({ headers }) => headers.authorization?.at(-1))).toEqual(['a', 'b', 'b', 'b']);
  });

  it('keys that were all throttled are not used before the first is available, and the client gets Retry-After', async () => {
    await using upstream = await createUpstream([refuse(429, { 'retry-after': '60' }), serve]);
    const route = routeTo(upstreamAt(upstream.url));
    await refusalOf(fixture.relay(exchangeFor([route])));
    fixture.now += 20_000;
    const exchange = exchangeFor([route]);
    const error = await refusalOf(fixture.relay(exchange));
    expect([error.code, error.details.retryAfter, attemptsOf(exchange)]).toEqual(['rate_limited', 40, []]);
    fixture.now += 40_000;
    expect((await fixture.relay(exchangeFor([route]))).status).toBe(200);
  });

  it.each([429, 401])(
    'keys that cool down after a %i are available as soon when the clock is set back',
    async (status) => {
      await using upstream = await createUpstream([refuse(status, { 'retry-after': '60' }), serve]);
      await using backup = await createUpstream(serve);
      const routes = [routeTo(upstreamAt(upstream.url)), routeTo(upstreamAt(backup.url, { name: 'two' }))];
      await fixture.relay(exchangeFor(routes));
      fixture.step = -86_400_000;
      fixture.now += 60_000;
      const exchange = exchangeFor(routes);
      await fixture.relay(exchange);
      expect(attemptsOf(exchange)).toEqual(['one/model-there served 200']);
    },
  );

  it.each([
    ['seconds', { 'retry-after': '2' }, 2_000],
    ['milliseconds', { 'retry-after-ms': '2000' }, 2_000],
  ])('that were throttled for some %s are used again right after them', async (_unit, headers, wait) => {
    await using upstream = await createUpstream([refuse(429, headers), serve]);
    const route = routeTo(upstreamAt(upstream.url));
    await refusalOf(fixture.relay(exchangeFor([route])));
    fixture.now += wait - 1;
    await refusalOf(fixture.relay(exchangeFor([route])));
    expect(upstream.requests).toHaveLength(1);
    fixture.now += 1;
    expect((await fixture.relay(exchangeFor([route]))).status).toBe(200);
  });

  it('keys that were throttled for one model are asked for another', async () => {
    await using upstream = await createUpstream([refuse(429, { 'retry-after': '60' }), serve]);
    const there = upstreamAt(upstream.url, { apiKeys: ['a'] });
    await refusalOf(fixture.relay(exchangeFor([routeTo(there)])));
    const other = routeTo(there, { id: 'one/other', model: 'other' });
    expect((await fixture.relay(exchangeFor([other]))).status).toBe(200);
  });

  it('keys that were throttled for different times give the shortest Retry-After', async () => {
    const waits: Record<string, string> = { 'Bearer a': '5', 'Bearer b': '60' };
    await using upstream = await createUpstream((request, response) =>
      refuse(429, { 'retry-after': waits[request.headers.authorization ?? ''] ?? '1' })(request, response),
    );
    const route = routeTo(upstreamAt(upstream.url, { apiKeys: ['a', 'b'] }));
    expect((await refusalOf(fixture.relay(exchangeFor([route])))).details.retryAfter).toBe(5);
  });

  it('keys that were throttled count where the others were refused', async () => {
    await using upstream = await createUpstream([refuse(429, { 'retry-after': '7' }), refuse(401)]);
    const route = routeTo(upstreamAt(upstream.url, { apiKeys: ['a', 'b'] }));
    const error = await refusalOf(fixture.relay(exchangeFor([route])));
    expect([error.code, error.details.retryAfter]).toEqual(['rate_limited', 7]);
  });

  it('keys that were throttled leave the error to the fault of another route', async () => {
    await using first = await createUpstream(refuse(429, { 'retry-after': '60' }));
    await using second = await createUpstream(refuse(500));
    const routes = [routeTo(upstreamAt(first.url)), routeTo(upstreamAt(second.url, { name: 'two' }))];
    await refusalOf(fixture.relay(exchangeFor(routes)));
    expect((await refusalOf(fixture.relay(exchangeFor(routes)))).code).toBe('upstream_failed');
    expect([first.requests.length, second.requests.length]).toEqual([1, 2]);
  });

  it('keys that are refused are logged once for each cooldown, without showing one', async () => {
    const lines: string[] = [];
    fixture.reopen({}, (line) => lines.push(line));
    await using upstream = await createUpstream((_request, response) =>
      response.json(401, { error: { message: 'Incorrect API key provided:\n topsecretvendorkey' } }),
    );
    const route = routeTo(upstreamAt(upstream.url, { apiKeys: ['topsecretvendorkey'] }));
    for (const _ of [1, 2]) await refusalOf(fixture.relay(exchangeFor([route])));
    expect(lines.map((line) => line.slice(25).trim())).toEqual([
      expect.stringMatching(
        /^warn {2}upstream one rejected key 1 of 1 for req_test; not used for 60 s: 401 Incorrect API key provided: \[…\]$/,
      ),
    ]);
    fixture.now += 60_000;
    await refusalOf(fixture.relay(exchangeFor([route])));
    expect(lines[1]).toContain('not used for 120 s');
  });
});

describe('a connection that was closed while idle', () => {
  /** Answers once and then resets, on the same connection. */
  const staleAfterFirst: Handler[] = [serve, cut, serve];

  it('a connection that was closed while idle is retried at once on a new one', async () => {
    await using upstream = await createUpstream(staleAfterFirst);
    const route = routeTo(upstreamAt(upstream.url));
    await fixture.relay(exchangeFor([route]));
    await new Promise(setImmediate); // The connection goes back to its pool after the answer.
    const exchange = exchangeFor([route]);
    await fixture.relay(exchange);
    expect(upstream.requests.map(({ connection }) => connection)).toEqual([1, 1, 2]);
    expect(attemptsOf(exchange)).toEqual(['one/model-there failed', 'one/model-there served 200']);
  });

  it('a connection that was closed while idle does not count as an attempt', async () => {
    fixture.reopen({ maxAttempts: 1 });
    await using upstream = await createUpstream(staleAfterFirst);
    const route = routeTo(upstreamAt(upstream.url));
    await fixture.relay(exchangeFor([route]));
    await new Promise(setImmediate);
    expect((await fixture.relay(exchangeFor([route]))).status).toBe(200);
  });

  it('a connection that was closed while idle does not count against the route', async () => {
    fixture.health.options.failures = 1;
    await using upstream = await createUpstream(staleAfterFirst);
    const route = routeTo(upstreamAt(upstream.url));
    await fixture.relay(exchangeFor([route]));
    await new Promise(setImmediate);
    await fixture.relay(exchangeFor([route]));
    expect(fixture.health.getStatuses([route])).toMatchObject([{ state: 'closed' }]);
  });

  it('a connection that was closed while idle does not change the cooldown when the route is throttled then', async () => {
    await using upstream = await createUpstream([serve, cut, refuse(429, { 'retry-after': '7' })]);
    const route = routeTo(upstreamAt(upstream.url));
    await fixture.relay(exchangeFor([route]));
    await new Promise(setImmediate);
    const error = await refusalOf(fixture.relay(exchangeFor([route])));
    expect([error.code, error.details.retryAfter]).toEqual(['rate_limited', 7]);
  });

  it('a connection that was closed while idle is retried once and not more often', async () => {
    await using upstream = await createUpstream([serve, cut, cut, serve]);
    const route = routeTo(upstreamAt(upstream.url));
    await fixture.relay(exchangeFor([route]));
    await new Promise(setImmediate);
    await refusalOf(fixture.relay(exchangeFor([route])));
    expect(upstream.requests).toHaveLength(3);
  });

  it.each([
    ['a reset', cut],
    ['an end', (_request, response) => response.cut()],
  ] satisfies [string, Handler][])(
    'is not what %s of a new connection is: that is a fault of the route',
    async (_name, fault) => {
      await using upstream = await createUpstream([fault, serve]);
      await using backup = await createUpstream(serve);
      const exchange = exchangeFor([
        routeTo(upstreamAt(upstream.url)),
        routeTo(upstreamAt(backup.url, { name: 'two' })),
      ]);
      await fixture.relay(exchange);
      expect(attemptsOf(exchange)).toEqual(['one/model-there failed', 'two/model-there served 200']);
    },
  );
});

/** Closes the connection within the head of its answer. */
const begin: Handler = (_request, response) => {
  response.raw('HTTP/1.1 200 OK\r\nconte');
  response.cut();
};
/** Says this, and waits. */
const say =
  (status: string): Handler =>
  (_request, response) =>
    response.raw(`HTTP/1.1 ${status}\r\n\r\n`);

describe('a connection that breaks within the head of an answer', () => {
  it.each([
    ['is closed', begin],
    ['says 101 Switching Protocols unasked', say('101 Switching Protocols')],
  ])('since it %s is no stale one: the request is sent once, and the route is at fault', async (_name, handler) => {
    await using upstream = await createUpstream(handler);
    const route = routeTo(upstreamAt(upstream.url));
    expect((await refusalOf(fixture.relay(exchangeFor([route])))).code).toBe('upstream_failed');
    expect(upstream.requests).toHaveLength(1);
    expect(fixture.health.isHealthy(route)).toBe(false);
  });

  it('a connection that breaks within the head of an answer is not stale either when it had carried whole answers before', async () => {
    await using upstream = await createUpstream([serve, begin]);
    const route = routeTo(upstreamAt(upstream.url));
    await fixture.relay(exchangeFor([route]));
    await new Promise(setImmediate);
    await refusalOf(fixture.relay(exchangeFor([route])));
    expect(upstream.requests.map(({ connection }) => connection)).toEqual([1, 1]);
  });
});
