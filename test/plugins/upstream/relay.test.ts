import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ClientGone, GatewayError } from '#core/errors.ts';
import { delivery } from '#core/facts.ts';
import { createBlackHole } from '../../support/dead-ends.ts';
import { createUpstream, type Handler } from '../../support/faulty-upstream.ts';
import {
  answer,
  attemptsOf,
  content,
  createBench,
  exchangeFor,
  finish,
  type RelayBench,
  refusalOf,
  routeTo,
  textOf,
  upstreamAt,
} from './upstream-fixture.ts';

const serve: Handler = (_request, response) => response.json(200, answer);
const refuse =
  (status: number, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    response.json(status, { error: { message: 'secret words of the vendor', type: 'odd' } }, headers);
const cut: Handler = (_request, response) => response.reset();

let bench: RelayBench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

/** What the client is told when one route after the other does this. */
const told = async (...handlers: Handler[]) => {
  await using upstream = await createUpstream(handlers);
  const there = handlers.map((_handler, index) => routeTo(upstreamAt(upstream.url, { name: `u${index}` })));
  return await refusalOf(bench.relay(exchangeFor(there)));
};

const relayStream = async (...handlers: Handler[]) => {
  const upstream = await createUpstream(handlers);
  const exchange = exchangeFor([routeTo(upstreamAt(upstream.url))], { isStream: true });
  return { upstream, exchange, reply: await bench.relay(exchange) };
};

const eventOf = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

describe('what is sent', () => {
  it('is the client’s request under the model’s name there, with the key and headers of the upstream', async () => {
    await using upstream = await createUpstream(serve);
    const route = routeTo(upstreamAt(`${upstream.url}/v1`, { apiKeys: ['k1'], headers: { 'x-team': 'a' } }));
    await bench.relay(exchangeFor([route]));
    const [request] = upstream.requests;
    expect([request?.method, request?.path]).toEqual(['POST', '/v1/chat/completions']);
    expect(request?.headers).toMatchObject({ authorization: 'Bearer k1', 'x-team': 'a' });
    expect(request?.json()).toEqual({ model: 'model-there', messages: [{ role: 'user', content: 'hi' }] });
  });

  it('has no authorization when the upstream has no key', async () => {
    await using upstream = await createUpstream(serve);
    await bench.relay(exchangeFor([routeTo(upstreamAt(upstream.url))]));
    expect(upstream.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it.each([
    ['x-api-key', 'k1'],
    ['x-goog-api-key', 'k1'],
  ] as const)('has the key in %s where the upstream reads it there', async (auth, value) => {
    await using upstream = await createUpstream(serve);
    await bench.relay(exchangeFor([routeTo(upstreamAt(upstream.url, { auth, apiKeys: ['k1'] }))]));
    expect(upstream.requests[0]?.headers[auth]).toBe(value);
    expect(upstream.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it('is the same on the second route as on the first, but for the model', async () => {
    await using upstream = await createUpstream([refuse(500), serve]);
    const there = upstreamAt(upstream.url);
    await bench.relay(exchangeFor([routeTo(there, { model: 'a' }), routeTo(there, { model: 'b' })]));
    const [first, second] = upstream.requests;
    expect(second?.json()).toEqual({ ...first?.json(), model: 'b' });
  });
});

describe('failover', () => {
  const faults: [string, Handler][] = [
    ['answers 500', refuse(500)],
    ['answers 408', refuse(408)],
    ['answers 409', refuse(409)],
    ['redirects', (_request, response) => response.send(302, { location: 'http://127.0.0.1:1/' })],
    ['refuses the key', refuse(401)],
    ['wants to be paid', refuse(402)],
    ['is throttled', refuse(429)],
    ['resets the connection', cut],
    ['is no HTTP server', (_request, response) => void (response.raw('SSH-2.0-x\r\n'), response.cut())],
    [
      'cuts the body',
      (_request, response) =>
        void (response.head(200, { 'content-length': '50', 'content-type': 'application/json' }), response.cut()),
    ],
    ['answers with an empty body', (_request, response) => response.send(200, { 'content-type': 'application/json' })],
    ['answers with a page', (_request, response) => response.send(200, { 'content-type': 'text/html' }, '<html>')],
    ['answers with an error inside a 200', (_request, response) => response.json(200, { error: { message: 'no' } })],
    [
      'answers with a stream that was not asked for',
      (_request, response) => void (response.sse(finish), response.end()),
    ],
    [
      'answers in an encoding that was not asked for',
      (_request, response) => response.send(200, { 'content-encoding': 'gzip' }, 'x'),
    ],
  ];
  it.each(faults)('goes to the next route when the first %s', async (_name, fault) => {
    await using first = await createUpstream(fault);
    await using second = await createUpstream(serve);
    const exchange = exchangeFor([routeTo(upstreamAt(first.url)), routeTo(upstreamAt(second.url, { name: 'two' }))]);
    const reply = await bench.relay(exchange);
    expect(JSON.parse(await textOf(reply))).toEqual(answer);
    expect(attemptsOf(exchange).at(-1)).toBe('two/model-there served 200');
  });

  const streamFaults: [string, Handler][] = [
    ['answers whole', serve],
    ['cuts before any content', (_request, response) => void (response.sse({ choices: [] }), response.cut())],
    ['ends before any content', (_request, response) => void (response.sse({ choices: [] }), response.end())],
    [
      'reports an error first',
      (_request, response) => void (response.sse({ error: { message: 'no' } }), response.end()),
    ],
  ];
  it.each(streamFaults)('goes to the next route when the first, asked for a stream, %s', async (_name, fault) => {
    await using first = await createUpstream(fault);
    await using second = await createUpstream((_request, response) => {
      response.sse(content('hi'), finish, '[DONE]');
      response.end();
    });
    const routes = [routeTo(upstreamAt(first.url)), routeTo(upstreamAt(second.url, { name: 'two' }))];
    const reply = await bench.relay(exchangeFor(routes, { isStream: true }));
    const text = await textOf(reply);
    expect(text).toContain('"content":"hi"');
    expect(text).not.toContain('error');
  });

  it('goes to the next route when nobody listens at the first', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => probe.once('listening', resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    await using second = await createUpstream(serve);
    const exchange = exchangeFor([
      routeTo(upstreamAt(`http://127.0.0.1:${port}`)),
      routeTo(upstreamAt(second.url, { name: 'two' })),
    ]);
    await bench.relay(exchange);
    expect(attemptsOf(exchange)).toEqual(['one/model-there failed', 'two/model-there served 200']);
  });

  it('leaves out routes that cannot serve the format, not even translated', async () => {
    await using upstream = await createUpstream(serve);
    const exchange = exchangeFor([
      routeTo(upstreamAt(upstream.url, { formats: ['images'] })),
      routeTo(upstreamAt(upstream.url, { name: 'two' })),
    ]);
    await bench.relay(exchange);
    expect(attemptsOf(exchange)).toEqual(['two/model-there served 200']);
  });

  it('ends after max_attempts, whatever routes are left', async () => {
    await using upstream = await createUpstream(refuse(500));
    const there = upstreamAt(upstream.url);
    const error = await refusalOf(bench.relay(exchangeFor([1, 2, 3, 4, 5].map(() => routeTo(there)))));
    expect(error.code).toBe('upstream_failed');
    expect(upstream.requests).toHaveLength(3);
  });

  it('loses none of the requests that were on a route when it died, however many', async () => {
    await using dying = await createUpstream(refuse(500));
    await using backup = await createUpstream(serve);
    const there = [routeTo(upstreamAt(dying.url)), routeTo(upstreamAt(backup.url, { name: 'backup' }))];
    const exchanges = Array.from({ length: 60 }, () => exchangeFor(there));
    const replies = await Promise.all(exchanges.map((exchange) => bench.relay(exchange)));
    expect(replies.map(({ status }) => status)).toEqual(exchanges.map(() => 200));
  });

  it('lets only a few wait for a route that swallows connections', async () => {
    await using hole = await createBlackHole();
    await using backup = await createUpstream(serve);
    const there = [
      routeTo(upstreamAt(`http://127.0.0.1:${hole.port}`), { connectTimeout: 60 }),
      routeTo(upstreamAt(backup.url, { name: 'backup' })),
    ];
    const exchanges = Array.from({ length: 40 }, () => exchangeFor(there));
    const replies = exchanges.map(async (exchange) => (await bench.relay(exchange)).status);
    await backup.waitForRequest(30);
    expect(await Promise.all(replies.slice(10))).toEqual(Array(30).fill(200));
    expect(backup.requests).toHaveLength(30);
    for (const exchange of exchanges.slice(0, 10)) exchange.abort(new ClientGone());
    await Promise.allSettled(replies);
  });

  it('passes by a route that fails as well when no retries are left, to one that works', async () => {
    bench.health.options.failures = 1_000;
    bench.health.options.minimumCalls = 1_000;
    await using dying = await createUpstream(refuse(500));
    await using working = await createUpstream(serve);
    const routes = ['one', 'two', 'three'].map((name, index) =>
      routeTo(upstreamAt(index === 2 ? working.url : dying.url, { name })),
    );
    for (let count = 0; count < 60; count++) expect((await bench.relay(exchangeFor(routes))).status).toBe(200);
  });

  it('to a route that fails as well is bounded by what all requests share', async () => {
    bench.health.options.failures = 1_000;
    bench.health.options.minimumCalls = 1_000;
    await using dying = await createUpstream(refuse(500));
    await using backup = await createUpstream(refuse(500));
    const there = [routeTo(upstreamAt(dying.url)), routeTo(upstreamAt(backup.url, { name: 'backup' }))];
    for (let count = 0; count < 60; count++) await refusalOf(bench.relay(exchangeFor(there)));
    expect(dying.requests).toHaveLength(60);
    // The first one finds out, 20 are free for a quiet gateway, and 60 requests earn six.
    expect(backup.requests.length).toBeGreaterThan(20);
    expect(backup.requests.length).toBeLessThanOrEqual(27);
  });

  it('without any route says that the model is out of service', async () => {
    expect(await refusalOf(bench.relay(exchangeFor([])))).toMatchObject({ code: 'unavailable' });
  });

  it.each([400, 404, 413, 415])('does not happen on %i: the request is at fault', async (status) => {
    await using upstream = await createUpstream(refuse(status));
    const there = upstreamAt(upstream.url);
    const error = await refusalOf(bench.relay(exchangeFor([routeTo(there), routeTo(there)])));
    expect([error.code, error.status('chat')]).toEqual(['upstream_rejected', status]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('happens on 500 to the same upstream once for every route of it', async () => {
    await using upstream = await createUpstream([refuse(500), serve]);
    const there = upstreamAt(upstream.url, { apiKeys: ['k1', 'k2', 'k3'] });
    const exchange = exchangeFor([routeTo(there), routeTo(there)]);
    await bench.relay(exchange);
    expect(attemptsOf(exchange)).toHaveLength(2);
  });
});

it('an attempt says which format the request was put into', async () => {
  await using upstream = await createUpstream([refuse(500), serve]);
  const exchange = exchangeFor([
    routeTo(upstreamAt(upstream.url, { name: 'one', formats: ['messages'] })),
    routeTo(upstreamAt(upstream.url, { name: 'two' })),
  ]);
  await bench.relay(exchange);
  const { attempts } = exchange.get(delivery);
  expect(attempts.map(({ route, format }) => [route, format])).toEqual([
    ['one/model-there', 'messages'],
    ['two/model-there', 'chat'],
  ]);
});

describe('what the client is told when every route failed', () => {
  it('is the shortest wait when all are throttled', async () => {
    const error = await told(refuse(429, { 'retry-after': '30' }), refuse(429, { 'retry-after': '7' }));
    expect([error.code, error.details.retryAfter]).toEqual(['rate_limited', 7]);
  });

  it('is the failure when only some are throttled', async () => {
    expect((await told(refuse(500), refuse(429))).code).toBe('upstream_failed');
  });

  it('is that the model is out of service when the keys are refused', async () => {
    expect((await told(refuse(401), refuse(403))).code).toBe('unavailable');
  });

  it.each([401, 402, 403, 429, 500])(
    'never has the vendor’s words about the operator’s account (%i)',
    async (status) => {
      expect((await told(refuse(status))).message).not.toContain('secret');
    },
  );

  it('is what the upstream said when the request was refused', async () => {
    const error = await told(refuse(400));
    expect([error.message, error.wording('openai').type]).toEqual(['secret words of the vendor', 'odd']);
  });
});

describe('keys', () => {
  it('are used in turn', async () => {
    await using upstream = await createUpstream(serve);
    const route = routeTo(upstreamAt(upstream.url, { apiKeys: ['a', 'b'] }));
    for (const _ of [1, 2, 3]) await bench.relay(exchangeFor([route]));
    expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer a', 'Bearer b', 'Bearer a']);
  });

  it.each([401, 429])('that are not accepted (%i) cost a key and not a route', async (status) => {
    await using upstream = await createUpstream([refuse(status), serve]);
    const exchange = exchangeFor([routeTo(upstreamAt(upstream.url, { apiKeys: ['a', 'b'] }))]);
    await bench.relay(exchange);
    expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer a', 'Bearer b']);
    expect(attemptsOf(exchange)).toEqual([`one/model-there failed ${status}`, 'one/model-there served 200']);
  });

  it('that are not accepted count as attempts', async () => {
    await using upstream = await createUpstream(refuse(401));
    const there = upstreamAt(upstream.url, { apiKeys: ['a', 'b', 'c', 'd', 'e'] });
    await refusalOf(bench.relay(exchangeFor([routeTo(there)])));
    expect(upstream.requests).toHaveLength(3);
  });

  it('that all rest give way to the next route', async () => {
    await using first = await createUpstream(refuse(401));
    await using second = await createUpstream(serve);
    const exchange = exchangeFor([
      routeTo(upstreamAt(first.url, { apiKeys: ['a', 'b'] })),
      routeTo(upstreamAt(second.url, { name: 'two' })),
    ]);
    await bench.relay(exchange);
    expect(attemptsOf(exchange)).toEqual([
      'one/model-there failed 401',
      'one/model-there failed 401',
      'two/model-there served 200',
    ]);
  });

  it('leave the last try to another route, however many there are', async () => {
    await using first = await createUpstream(refuse(401));
    await using second = await createUpstream(serve);
    const exchange = exchangeFor([
      routeTo(upstreamAt(first.url, { apiKeys: ['a', 'b', 'c', 'd'] })),
      routeTo(upstreamAt(second.url, { name: 'two' })),
    ]);
    expect((await bench.relay(exchange)).status).toBe(200);
    expect(attemptsOf(exchange)).toHaveLength(3);
  });

  it('that all rest are not asked again while another route has one that does not', async () => {
    await using first = await createUpstream([refuse(401), serve]);
    await using second = await createUpstream(serve);
    const there = [routeTo(upstreamAt(first.url)), routeTo(upstreamAt(second.url, { name: 'two' }))];
    await bench.relay(exchangeFor(there));
    await bench.relay(exchangeFor(there));
    expect([first.requests.length, second.requests.length]).toEqual([1, 2]);
    bench.now += 61_000;
    await bench.relay(exchangeFor(there));
    expect([first.requests.length, second.requests.length]).toEqual([2, 2]);
  });

  it('that all rest are asked all the same when there is no other route', async () => {
    await using only = await createUpstream([refuse(401), serve]);
    const there = [routeTo(upstreamAt(only.url))];
    await refusalOf(bench.relay(exchangeFor(there)));
    expect((await bench.relay(exchangeFor(there))).status).toBe(200);
  });

  it('that were throttled rest for as long as the upstream said', async () => {
    await using upstream = await createUpstream([refuse(429, { 'retry-after': '20' }), serve, serve, serve]);
    const route = routeTo(upstreamAt(upstream.url, { apiKeys: ['a', 'b'] }));
    await bench.relay(exchangeFor([route]));
    await bench.relay(exchangeFor([route]));
    bench.now += 20_000;
    await bench.relay(exchangeFor([route]));
    expect(upstream.requests.map(({ headers }) => headers.authorization?.at(-1))).toEqual(['a', 'b', 'b', 'a']);
  });
});

describe('a connection that was closed while idle', () => {
  /** Answers once and then resets, on the same connection. */
  const staleAfterFirst: Handler[] = [serve, cut, serve];

  it('is tried again at once on a new one', async () => {
    await using upstream = await createUpstream(staleAfterFirst);
    const route = routeTo(upstreamAt(upstream.url));
    await bench.relay(exchangeFor([route]));
    await new Promise(setImmediate); // The connection goes back to its pool after the answer.
    const exchange = exchangeFor([route]);
    await bench.relay(exchange);
    expect(upstream.requests.map(({ connection }) => connection)).toEqual([1, 1, 2]);
    expect(attemptsOf(exchange)).toEqual(['one/model-there failed', 'one/model-there served 200']);
  });

  it('does not count as an attempt', async () => {
    bench = createBench({ maxAttempts: 1 });
    await using upstream = await createUpstream(staleAfterFirst);
    const route = routeTo(upstreamAt(upstream.url));
    await bench.relay(exchangeFor([route]));
    await new Promise(setImmediate);
    expect((await bench.relay(exchangeFor([route]))).status).toBe(200);
  });

  it('is not held against the route', async () => {
    bench.health.options.failures = 1;
    await using upstream = await createUpstream(staleAfterFirst);
    const route = routeTo(upstreamAt(upstream.url));
    await bench.relay(exchangeFor([route]));
    await new Promise(setImmediate);
    await bench.relay(exchangeFor([route]));
    expect(bench.health.status([route])).toMatchObject([{ state: 'closed' }]);
  });

  it('says nothing about the wait when the route is throttled then', async () => {
    await using upstream = await createUpstream([serve, cut, refuse(429, { 'retry-after': '7' })]);
    const route = routeTo(upstreamAt(upstream.url));
    await bench.relay(exchangeFor([route]));
    await new Promise(setImmediate);
    const error = await refusalOf(bench.relay(exchangeFor([route])));
    expect([error.code, error.details.retryAfter]).toEqual(['rate_limited', 7]);
  });

  it('is tried again once and not more often', async () => {
    await using upstream = await createUpstream([serve, cut, cut, serve]);
    const route = routeTo(upstreamAt(upstream.url));
    await bench.relay(exchangeFor([route]));
    await new Promise(setImmediate);
    await refusalOf(bench.relay(exchangeFor([route])));
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
      await bench.relay(exchange);
      expect(attemptsOf(exchange)).toEqual(['one/model-there failed', 'two/model-there served 200']);
    },
  );
});

describe('a model with hedge_after', () => {
  it('is served by the backup when the first route lets wait, and the first is cancelled', async () => {
    await using first = await createUpstream(() => undefined);
    await using backup = await createUpstream(serve);
    const there = [routeTo(upstreamAt(first.url)), routeTo(upstreamAt(backup.url, { name: 'two' }))];
    const exchange = exchangeFor(there, { hedgeAfter: 0.1 });
    expect((await bench.relay(exchange)).status).toBe(200);
    expect(await first.waitForClose(1)).toBe('client left');
    expect(attemptsOf(exchange).toSorted()).toEqual(['one/model-there aborted', 'two/model-there served 200']);
  });

  it('is served by the first route when the backup lets wait as well, and the backup is cancelled', async () => {
    const asked = Promise.withResolvers<void>();
    await using first = await createUpstream(async (_request, response) => {
      await asked.promise;
      response.json(200, answer);
    });
    await using backup = await createUpstream(() => asked.resolve());
    const there = [routeTo(upstreamAt(first.url)), routeTo(upstreamAt(backup.url, { name: 'two' }))];
    const exchange = exchangeFor(there, { hedgeAfter: 0.1 });
    expect((await bench.relay(exchange)).status).toBe(200);
    expect(await backup.waitForClose(1)).toBe('client left');
    expect(attemptsOf(exchange).toSorted()).toEqual(['one/model-there served 200', 'two/model-there aborted']);
  });

  it('is served by the first route when the backup fails', async () => {
    const failed = Promise.withResolvers<void>();
    await using first = await createUpstream(async (_request, response) => {
      await failed.promise;
      response.json(200, answer);
    });
    await using backup = await createUpstream(refuse(500));
    const there = [routeTo(upstreamAt(first.url)), routeTo(upstreamAt(backup.url, { name: 'two' }))];
    const exchange = exchangeFor(there, { hedgeAfter: 0.1 });
    const relayed = bench.relay(exchange);
    await vi.waitFor(() => expect(attemptsOf(exchange)).toEqual(['two/model-there failed 500']), { timeout: 10_000 });
    failed.resolve();
    expect((await relayed).status).toBe(200);
    expect(attemptsOf(exchange)).toEqual(['two/model-there failed 500', 'one/model-there served 200']);
  });
});

describe('deadlines', () => {
  it('give up a route that does not begin to answer', async () => {
    bench = createBench({ firstByteTimeout: 0.1 });
    await using upstream = await createUpstream(() => undefined);
    const error = await refusalOf(bench.relay(exchangeFor([routeTo(upstreamAt(upstream.url))])));
    expect(error.code).toBe('upstream_timeout');
    expect(await upstream.waitForClose(1)).toBe('client left');
  });

  it('give up a stream that only pings', async () => {
    bench = createBench({ firstByteTimeout: 0.2 });
    await using upstream = await createUpstream((request, response) => {
      response.sse();
      const timer = setInterval(() => void response.write(': ping\n\n'), 10);
      void request.closed.then(() => clearInterval(timer));
    });
    const exchange = exchangeFor([routeTo(upstreamAt(upstream.url))], { isStream: true });
    expect((await refusalOf(bench.relay(exchange))).code).toBe('upstream_timeout');
  });

  it('give up a whole answer that stops half-way', async () => {
    bench = createBench({ idleTimeout: 0.1 });
    await using upstream = await createUpstream((_request, response) =>
      response.head(200, { 'content-type': 'application/json' }),
    );
    const exchange = exchangeFor([routeTo(upstreamAt(upstream.url))]);
    expect((await refusalOf(bench.relay(exchange))).code).toBe('upstream_timeout');
  });

  it('break off a stream that falls silent after it began', async () => {
    bench = createBench({ idleTimeout: 0.1 });
    await using upstream = await createUpstream((_request, response) => response.sse(content('a')));
    const exchange = exchangeFor([routeTo(upstreamAt(upstream.url))], { isStream: true });
    const reply = await bench.relay(exchange);
    expect((await refusalOf(textOf(reply))).code).toBe('upstream_timeout');
    expect(attemptsOf(exchange)).toEqual(['one/model-there failed 200']);
  });

  it('of the route stand over those of the stage', async () => {
    await using upstream = await createUpstream(() => undefined);
    const route = routeTo(upstreamAt(upstream.url), { firstByteTimeout: 0.1 });
    expect((await refusalOf(bench.relay(exchangeFor([route])))).code).toBe('upstream_timeout');
  });

  it('give up a connection that does not open', async () => {
    bench = createBench({ connectTimeout: 0.1 });
    // TEST-NET-1 (RFC 5737): either nobody answers, or the system says at once that there is no way.
    const exchange = exchangeFor([routeTo(upstreamAt('http://192.0.2.1'))]);
    expect((await refusalOf(bench.relay(exchange))).code).toMatch(/^upstream_(timeout|failed)$/);
  });
});

describe('an exchange that ends early', () => {
  it('before the answer began closes the upstream and tries no other route', async () => {
    await using upstream = await createUpstream(() => undefined);
    const there = upstreamAt(upstream.url);
    const exchange = exchangeFor([routeTo(there), routeTo(there)]);
    const gone = new ClientGone();
    const relayed = bench.relay(exchange);
    await upstream.waitForRequest(1);
    exchange.abort(gone);
    await expect(relayed).rejects.toBe(gone);
    expect(await upstream.waitForClose(1)).toBe('client left');
    expect(attemptsOf(exchange)).toEqual(['one/model-there aborted']);
    expect(upstream.requests).toHaveLength(1);
  });

  it('before anything was sent reaches no upstream', async () => {
    await using upstream = await createUpstream(serve);
    const exchange = exchangeFor([routeTo(upstreamAt(upstream.url))]);
    const gone = new ClientGone();
    exchange.abort(gone);
    await expect(bench.relay(exchange)).rejects.toBe(gone);
    expect(upstream.requests).toHaveLength(0);
  });

  it('in the middle of a stream closes the upstream', async () => {
    await using upstream = await createUpstream((_request, response) => response.sse(content('a')));
    const exchange = exchangeFor([routeTo(upstreamAt(upstream.url))], { isStream: true });
    const reply = await bench.relay(exchange);
    const text = textOf(reply).catch(() => undefined);
    exchange.abort(new ClientGone());
    expect(await upstream.waitForClose(1)).toBe('client left');
    await text;
    expect(attemptsOf(exchange)).toEqual(['one/model-there aborted 200']);
  });

  it('by the gateway tells the reader why', async () => {
    await using upstream = await createUpstream((_request, response) => response.sse(content('a')));
    const exchange = exchangeFor([routeTo(upstreamAt(upstream.url))], { isStream: true });
    const reply = await bench.relay(exchange);
    const reason = new GatewayError('shutting_down', 'the gateway stops');
    const text = textOf(reply);
    exchange.abort(reason);
    await expect(text).rejects.toBe(reason);
  });

  it('by a reader that destroys the body closes the upstream', async () => {
    await using upstream = await createUpstream((_request, response) => response.sse(content('a')));
    const reply = await bench.relay(exchangeFor([routeTo(upstreamAt(upstream.url))], { isStream: true }));
    (reply.body as Readable).destroy();
    expect(await upstream.waitForClose(1)).toBe('client left');
  });
});

describe('a stream', () => {
  it('arrives as it was sent, and counts the tokens it was told', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2 };
    const { upstream, exchange, reply } = await relayStream((_request, response) => {
      response.sse(content('a'), content('b'), finish, { choices: [], usage }, '[DONE]');
      response.end();
    });
    await using _ = upstream;
    const data = [content('a'), content('b'), finish, { choices: [], usage }].map((event) => JSON.stringify(event));
    expect(await textOf(reply)).toBe([...data, '[DONE]'].map((event) => `data: ${event}\n\n`).join(''));
    expect(exchange.get(delivery).usage).toMatchObject({ input: 3, output: 2 });
    expect(attemptsOf(exchange)).toEqual(['one/model-there served 200']);
  });

  it('that is cut after its first content fails, and no other route takes over', async () => {
    const { upstream, exchange, reply } = await relayStream(async (_request, response) => {
      response.sse();
      await response.event(content('a'));
      response.cut();
    });
    await using _ = upstream;
    expect((await refusalOf(textOf(reply))).code).toBe('upstream_failed');
    expect(attemptsOf(exchange)).toEqual(['one/model-there failed 200']);
  });

  it('that fails in the same packet as its first content fails for its reader and nobody else', async () => {
    const { upstream, reply } = await relayStream((_request, response) => {
      const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
      response.raw(head + chunk(eventOf(content('a'))) + chunk(eventOf({ error: { message: 'no' } })));
    });
    await using _ = upstream;
    expect((await refusalOf(textOf(reply))).code).toBe('upstream_failed');
  });

  it('whose upstream stays open after the last event ends all the same', async () => {
    const { upstream, reply } = await relayStream((_request, response) => response.sse(content('a'), finish, '[DONE]'));
    await using _ = upstream;
    expect(await textOf(reply)).toContain('[DONE]');
    expect(await upstream.waitForClose(1)).toBe('client left');
  });
});

describe('a breaker', () => {
  const crashes: [string, boolean, Handler][] = [
    ['answers 500', false, refuse(500)],
    ['answers 400 for lack of room', false, (_r, response) => response.json(400, { error: { code: 'slow_down' } })],
    ['reports an error inside a 200', false, (_r, response) => response.json(200, { error: { message: 'no' } })],
    ['reports an error first', true, (_r, response) => (response.sse({ error: { message: 'no' } }), response.end())],
    ['cuts the stream', true, (_r, response) => (response.sse({ choices: [] }), response.cut())],
    ['cuts after its first content', true, (_r, response) => (response.sse(content('a')), response.cut())],
  ];
  it.each(crashes)(
    'is not opened by one conversation on which an upstream %s, but by five',
    async (_name, isStream, crash) => {
      await using upstream = await createUpstream(crash);
      const route = routeTo(upstreamAt(upstream.url));
      const ask = async (prompt: string) => {
        const reply = bench.relay(exchangeFor([route], { isStream, prompt }));
        await reply.then(textOf).catch(() => undefined);
        return bench.health.status([route])[0]?.state;
      };
      const states = [];
      for (let time = 0; time < 20; time++) states.push(await ask('same'));
      expect(states).toEqual(Array.from({ length: 20 }, () => 'closed'));
      for (const prompt of ['b', 'c', 'd']) states.push(await ask(prompt));
      expect(states.at(-1)).toBe('closed');
      expect(await ask('e')).toBe('open');
      expect(upstream.requests).toHaveLength(24);
    },
  );

  it('is opened by one conversation when nobody listens, which no request can cause', async () => {
    const route = routeTo(upstreamAt('http://127.0.0.1:1'));
    for (let time = 0; time < 5; time++) await refusalOf(bench.relay(exchangeFor([route])));
    expect(bench.health.status([route])[0]?.state).toBe('open');
  });
});
