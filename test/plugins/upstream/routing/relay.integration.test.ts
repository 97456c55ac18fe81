import { describe, expect, it } from 'vitest';
import type { Route } from '#core/config/catalog/catalog.ts';
import { delivery } from '#core/gateway/facts.ts';
import { ClientGone } from '#core/platform/errors/table.ts';
import { closedPort, createBlackHole } from '../../../support/dead-ends.ts';
import { createUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import { descriptors } from '../../../support/formats.ts';
import {
  answer,
  attemptsOf,
  content,
  cut,
  exchangeFor,
  finish,
  refusalOf,
  refuse,
  refused,
  routesTo,
  routeTo,
  serve,
  textOf,
  upstreamAt,
  useRelay,
} from '../fixture.ts';

const fixture = useRelay();

/** What the client is told when one route after the other does this. */
const told = async (...handlers: Handler[]) => {
  await using upstream = await createUpstream(handlers);
  const there = routesTo(...handlers.map(() => upstream.url));
  return await refusalOf(fixture.relay(exchangeFor(there)));
};

describe('what is sent', () => {
  it('is the client’s request under the model’s name there, with the key and headers of the upstream', async () => {
    await using upstream = await createUpstream(serve);
    const route = routeTo(upstreamAt(`${upstream.url}/v1`, { apiKeys: ['k1'], headers: { 'x-team': 'a' } }));
    await fixture.relay(exchangeFor([route]));
    const [request] = upstream.requests;
    expect([request?.method, request?.path]).toEqual(['POST', '/v1/chat/completions']);
    expect(request?.headers).toMatchObject({ authorization: 'Bearer k1', 'x-team': 'a' });
    expect(request?.json()).toEqual({ model: 'model-there', messages: [{ role: 'user', content: 'hi' }] });
  });

  it('has no authorization when the upstream has no key', async () => {
    await using upstream = await createUpstream(serve);
    await fixture.relay(exchangeFor([routeTo(upstreamAt(upstream.url))]));
    expect(upstream.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it.each([
    ['x-api-key', 'k1'],
    ['x-goog-api-key', 'k1'],
  ] as const)('has the key in %s where the upstream reads it there', async (auth, value) => {
    await using upstream = await createUpstream(serve);
    await fixture.relay(exchangeFor([routeTo(upstreamAt(upstream.url, { auth, apiKeys: ['k1'] }))]));
    expect(upstream.requests[0]?.headers[auth]).toBe(value);
    expect(upstream.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it('is the same on the second route as on the first, but for the model', async () => {
    await using upstream = await createUpstream([refuse(500), serve]);
    const there = upstreamAt(upstream.url);
    await fixture.relay(exchangeFor([routeTo(there, { model: 'a' }), routeTo(there, { model: 'b' })]));
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
    const reply = await fixture.relay(exchange);
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
    const reply = await fixture.relay(exchangeFor(routes, { isStream: true }));
    const text = await textOf(reply);
    expect(text).toContain('"content":"hi"');
    expect(text).not.toContain('error');
  });

  it('goes to the next route if nothing listens at the first', async () => {
    const port = await closedPort();
    await using second = await createUpstream(serve);
    const exchange = exchangeFor([
      routeTo(upstreamAt(`http://127.0.0.1:${port}`)),
      routeTo(upstreamAt(second.url, { name: 'two' })),
    ]);
    await fixture.relay(exchange);
    expect(attemptsOf(exchange)).toEqual(['one/model-there failed', 'two/model-there served 200']);
  });

  it('skips routes that cannot serve the format, not even translated', async () => {
    await using upstream = await createUpstream(serve);
    const exchange = exchangeFor([
      routeTo(upstreamAt(upstream.url, { formats: ['images'] })),
      routeTo(upstreamAt(upstream.url, { name: 'two' })),
    ]);
    await fixture.relay(exchange);
    expect(attemptsOf(exchange)).toEqual(['two/model-there served 200']);
  });

  it('ends after max_attempts, whatever routes are left', async () => {
    await using upstream = await createUpstream(refuse(500));
    const there = upstreamAt(upstream.url);
    const error = await refusalOf(fixture.relay(exchangeFor([1, 2, 3, 4, 5].map(() => routeTo(there)))));
    expect(error.code).toBe('upstream_failed');
    expect(upstream.requests).toHaveLength(3);
  });

  it('loses none of the requests that were on a route when it died, however many', async () => {
    await using dying = await createUpstream(refuse(500));
    await using backup = await createUpstream(serve);
    const there = [routeTo(upstreamAt(dying.url)), routeTo(upstreamAt(backup.url, { name: 'backup' }))];
    const exchanges = Array.from({ length: 60 }, () => exchangeFor(there));
    const replies = await Promise.all(exchanges.map((exchange) => fixture.relay(exchange)));
    expect(replies.map(({ status }) => status)).toEqual(exchanges.map(() => 200));
  });

  it('lets only a few requests wait for a route that accepts no connections', async () => {
    await using hole = await createBlackHole();
    await using backup = await createUpstream(serve);
    const there = [
      routeTo(upstreamAt(`http://127.0.0.1:${hole.port}`), { connectTimeout: 60 }),
      routeTo(upstreamAt(backup.url, { name: 'backup' })),
    ];
    const exchanges = Array.from({ length: 40 }, () => exchangeFor(there));
    const replies = exchanges.map(async (exchange) => (await fixture.relay(exchange)).status);
    await backup.waitForRequest(30);
    expect(await Promise.all(replies.slice(10))).toEqual(Array(30).fill(200));
    expect(backup.requests).toHaveLength(30);
    for (const exchange of exchanges.slice(0, 10)) exchange.abort(new ClientGone());
    await Promise.allSettled(replies);
  });

  it('skips a failing route when the retry budget is empty, and uses a healthy one', async () => {
    fixture.health.options.failures = 1_000;
    fixture.health.options.minimumCalls = 1_000;
    await using dying = await createUpstream(refuse(500));
    await using working = await createUpstream(serve);
    const routes = ['one', 'two', 'three'].map((name, index) =>
      routeTo(upstreamAt(index === 2 ? working.url : dying.url, { name })),
    );
    for (let count = 0; count < 60; count++) expect((await fixture.relay(exchangeFor(routes))).status).toBe(200);
  });

  it('to a failing route is bounded by the shared retry budget', async () => {
    fixture.health.options.failures = 1_000;
    fixture.health.options.minimumCalls = 1_000;
    await using dying = await createUpstream(refuse(500));
    await using backup = await createUpstream(refuse(500));
    const there = [routeTo(upstreamAt(dying.url)), routeTo(upstreamAt(backup.url, { name: 'backup' }))];
    for (let count = 0; count < 60; count++) await refusalOf(fixture.relay(exchangeFor(there)));
    expect(dying.requests).toHaveLength(60);
    // The first one finds out, 20 are free for a quiet gateway, and 60 requests earn six.
    expect(backup.requests.length).toBeGreaterThan(20);
    expect(backup.requests.length).toBeLessThanOrEqual(27);
  });

  it('leaves the probe of a route to the next request when the retry budget is empty', async () => {
    fixture.health.options.minimumCalls = 1_000;
    await using dying = await createUpstream(refuse(500));
    await using back = await createUpstream([refuse(500), serve]);
    const first = routeTo(upstreamAt(dying.url));
    const second = routeTo(upstreamAt(back.url, { name: 'two' }));
    fixture.health.options.failures = 1;
    await refusalOf(fixture.relay(exchangeFor([second])));
    fixture.health.options.failures = 1_000;
    while (fixture.budget.takeRetry());
    fixture.now += fixture.health.options.cooldown;
    await refusalOf(fixture.relay(exchangeFor([first, second])));
    expect(back.requests).toHaveLength(1);
    expect((await fixture.relay(exchangeFor([second]))).status).toBe(200);
  });

  it('without any route reports that the model is unavailable', async () => {
    expect(await refusalOf(fixture.relay(exchangeFor([])))).toMatchObject({ code: 'unavailable' });
  });

  it.each([400, 413, 415])('does not happen on %i: the request is at fault', async (status) => {
    await using upstream = await createUpstream(refuse(status));
    const there = upstreamAt(upstream.url);
    const error = await refusalOf(fixture.relay(exchangeFor([routeTo(there), routeTo(there)])));
    expect([error.code, error.status(descriptors.chat)]).toEqual(['upstream_rejected', status]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('happens on 404, and the client does not read that an object of its own is missing', async () => {
    await using upstream = await createUpstream(refuse(404));
    const there = upstreamAt(upstream.url);
    const error = await refusalOf(fixture.relay(exchangeFor([routeTo(there), routeTo(there)])));
    expect([error.code, error.status(descriptors.chat)]).toEqual(['upstream_failed', 502]);
    expect(upstream.requests).toHaveLength(2);
  });

  it('happens on 500 to the same upstream once for every route of it', async () => {
    await using upstream = await createUpstream([refuse(500), serve]);
    const there = upstreamAt(upstream.url, { apiKeys: ['k1', 'k2', 'k3'] });
    const exchange = exchangeFor([routeTo(there), routeTo(there)]);
    await fixture.relay(exchange);
    expect(attemptsOf(exchange)).toHaveLength(2);
  });
});

it('no attempt on record names the host or an address of its upstream', async () => {
  const unreachable = [
    `http://127.0.0.1:${await closedPort()}`,
    `http://localhost:${await closedPort()}`,
    'http://vendor.invalid',
  ];
  const exchange = exchangeFor(routesTo(...unreachable));
  await fixture.relay(exchange).catch(() => undefined);
  const { attempts } = exchange.get(delivery);
  expect(attempts.map(({ error }) => error)).toEqual([
    'route: The connection to the upstream failed. (connect ECONNREFUSED […])',
    'route: The connection to the upstream failed. (connect ECONNREFUSED […])',
    'route: The name of the upstream could not be resolved. (getaddrinfo ENOTFOUND […])',
  ]);
});

it('an attempt says which format the request was put into', async () => {
  await using upstream = await createUpstream([refuse(500), serve]);
  const exchange = exchangeFor([
    routeTo(upstreamAt(upstream.url, { name: 'one', formats: ['messages'] })),
    routeTo(upstreamAt(upstream.url, { name: 'two' })),
  ]);
  await fixture.relay(exchange);
  const { attempts } = exchange.get(delivery);
  expect(attempts.map(({ route, format }) => [route, format])).toEqual([
    ['one/model-there', 'messages'],
    ['two/model-there', 'chat'],
  ]);
});

describe('the error for the client when every route failed', () => {
  it('is the shortest wait when all are throttled', async () => {
    const error = await told(refuse(429, { 'retry-after': '30' }), refuse(429, { 'retry-after': '7' }));
    expect([error.code, error.details.retryAfter]).toEqual(['rate_limited', 7]);
  });

  it('is the failure when only some are throttled', async () => {
    expect((await told(refuse(500), refuse(429))).code).toBe('upstream_failed');
  });

  it.each([
    ['wrong', 401, 403],
    ['spent', 402, 402],
    ['spent, and another vendor does not have the model', 402, 404],
  ])('is final when the keys of all routes are %s', async (_how, first, second) => {
    const error = await told(refuse(first), refuse(second));
    expect([error.code, error.isFinal, error.details.retryAfter]).toEqual([
      'upstream_account_rejected',
      true,
      undefined,
    ]);
  });

  it('has no word on which clients repeat the request, or blame their own key, when the keys are refused', async () => {
    const { message } = await told(refuse(401));
    expect(message).toBe(
      "The provider of this model rejected this service's account. Your own key is valid. Contact the operator of this service.",
    );
  });

  it.each([
    ['throttled', refuse(429, { 'retry-after': '7' }), 'rate_limited', 7],
    ['overloaded', refuse(503, { 'retry-after': '9' }), 'unavailable', 9],
    ['broken', cut, 'upstream_failed', undefined],
  ])(
    'asks to come back when the keys of only one route are refused and another is %s',
    async (_, other, ...expected) => {
      for (const handlers of [[refuse(401), other] as const, [other, refuse(401)] as const]) {
        const error = await told(...handlers);
        expect([error.code, error.details.retryAfter]).toEqual(expected);
        expect(error.isFinal).toBe(false);
      }
    },
  );

  it('asks to come back when a route waits behind its breaker', async () => {
    await using upstream = await createUpstream(refuse(401));
    const routes = ['one', 'two'].map((name) => routeTo(upstreamAt(upstream.url, { name })));
    const [first] = routes as [Route, Route];
    for (let count = 0; count < 5; count++) fixture.health.recordFailure(first, { isProbe: false }, refused('down'));
    const error = await refusalOf(fixture.relay(exchangeFor(routes)));
    expect([error.code, error.details.retryAfter]).toEqual(['unavailable', 5]);
  });

  it('asks to come back when the attempts are used up before the keys', async () => {
    await using upstream = await createUpstream(refuse(401));
    const apiKeys = ['a', 'b', 'c', 'd'];
    const error = await refusalOf(fixture.relay(exchangeFor([routeTo(upstreamAt(upstream.url, { apiKeys }))])));
    expect([error.code, error.details.retryAfter]).toEqual(['unavailable', 1]);
  });

  it.each([401, 402, 403, 429, 500])(
    'never has the vendor’s words about the operator’s account (%i)',
    async (status) => {
      expect((await told(refuse(status))).message).not.toContain('secret');
    },
  );

  it('is the upstream’s error when the request was refused', async () => {
    const error = await told(refuse(400));
    expect([error.message, error.wording('openai').type]).toEqual(['secret words of the vendor', 'odd']);
  });
});
