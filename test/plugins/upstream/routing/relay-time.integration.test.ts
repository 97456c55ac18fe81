import type { Readable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { delivery } from '#core/gateway/facts.ts';
import { ClientGone, GatewayError } from '#core/platform/errors/table.ts';
import { finishGraceMs } from '../../../../plugins/upstream/attempt/contract.ts';
import { createUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import {
  answer,
  attemptsOf,
  breakingOff,
  content,
  exchangeFor,
  finish,
  refusalOf,
  refuse,
  routesTo,
  routeTo,
  serve,
  textOf,
  upstreamAt,
  useRelay,
} from '../fixture.ts';

const fixture = useRelay();
afterEach(() => {
  vi.useRealTimers();
});

const relayStream = async (...handlers: Handler[]) => {
  const upstream = await createUpstream(handlers);
  const exchange = exchangeFor([routeTo(upstreamAt(upstream.url))], { isStream: true });
  return { upstream, exchange, reply: await fixture.relay(exchange) };
};

const eventOf = (value: object) => `data: ${JSON.stringify(value)}\n\n`;

/** Finds the request at fault. */
const refusedAs =
  (message: string): Handler =>
  (_request, response) =>
    response.json(400, { error: { message } });

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

describe('a model with hedge_after', () => {
  it('is served by the backup when the first route is slow, and the first is cancelled', async () => {
    await using first = await createUpstream(() => undefined);
    await using backup = await createUpstream(serve);
    const there = [routeTo(upstreamAt(first.url)), routeTo(upstreamAt(backup.url, { name: 'two' }))];
    const exchange = exchangeFor(there, { hedgeAfter: 0.1 });
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect(await first.waitForClose(1)).toBe('client left');
    expect(attemptsOf(exchange)).toEqual(['one/model-there aborted', 'two/model-there served 200']);
    expect(exchange.get(delivery).servedBy).toBe('two/model-there');
  });

  it('is served by the first route when the backup is slow as well, and the backup is cancelled', async () => {
    const asked = Promise.withResolvers<void>();
    await using first = await createUpstream(async (_request, response) => {
      await asked.promise;
      response.json(200, answer);
    });
    await using backup = await createUpstream(() => asked.resolve());
    const there = [routeTo(upstreamAt(first.url)), routeTo(upstreamAt(backup.url, { name: 'two' }))];
    const exchange = exchangeFor(there, { hedgeAfter: 0.1 });
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect(await backup.waitForClose(1)).toBe('client left');
    expect(attemptsOf(exchange)).toEqual(['one/model-there served 200', 'two/model-there aborted']);
    expect(exchange.get(delivery).servedBy).toBe('one/model-there');
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
    const relayed = fixture.relay(exchange);
    await vi.waitFor(() => expect(attemptsOf(exchange)).toEqual(['two/model-there failed 500']), { timeout: 10_000 });
    failed.resolve();
    expect((await relayed).status).toBe(200);
    expect(attemptsOf(exchange)).toEqual(['one/model-there served 200', 'two/model-there failed 500']);
  });
});

/** Lets the first route do something once the backup has refused. */
const relayedAfterRefusal = async (then: Handler) => {
  const refused = Promise.withResolvers<void>();
  await using first = await createUpstream(async (request, response) => {
    await refused.promise;
    await then(request, response);
  });
  await using backup = await createUpstream(refusedAs('Unsupported parameter: seed'));
  await using spare = await createUpstream(serve);
  const there = routesTo(first, backup, spare);
  const exchange = exchangeFor(there, { hedgeAfter: 0.1 });
  const relayed = fixture.relay(exchange).catch((error: unknown) => error);
  await vi.waitFor(() => expect(attemptsOf(exchange)).toEqual(['u1/model-there failed 400']), { timeout: 10_000 });
  refused.resolve();
  return { outcome: await relayed, spare };
};

describe('a backup that rejects the request', () => {
  it('does not prevent the first route from serving it', async () => {
    expect((await relayedAfterRefusal(serve)).outcome).toMatchObject({ status: 200 });
  });

  it('decides when the first route fails, and no other is asked', async () => {
    const { outcome, spare } = await relayedAfterRefusal(refuse(500));
    expect(outcome).toMatchObject({ code: 'upstream_rejected', message: 'Unsupported parameter: seed' });
    expect(spare.requests).toHaveLength(0);
  });

  it.each(['seed has to be a number', 'this prompt is longer than the maximum context length'])(
    'has its message used only when the first route has none: %s',
    async (words) => {
      expect((await relayedAfterRefusal(refusedAs(words))).outcome).toMatchObject({ message: words });
    },
  );

  it('does not decide either when it was asked first and the other serves', async () => {
    const asked = Promise.withResolvers<void>();
    await using first = await createUpstream(async (request, response) => {
      await asked.promise;
      await refusedAs('Unsupported parameter: seed')(request, response);
    });
    await using backup = await createUpstream(async (request, response) => {
      asked.resolve();
      await vi.waitFor(() => expect(attemptsOf(exchange)).toHaveLength(1), { timeout: 10_000 });
      await serve(request, response);
    });
    const there = [routeTo(upstreamAt(first.url)), routeTo(upstreamAt(backup.url, { name: 'two' }))];
    const exchange = exchangeFor(there, { hedgeAfter: 0.1 });
    expect((await fixture.relay(exchange)).status).toBe(200);
  });
});

describe('deadlines', () => {
  it('give up a route that does not begin to respond', async () => {
    fixture.reopen({ firstByteTimeout: 0.1 });
    await using upstream = await createUpstream(() => undefined);
    const error = await refusalOf(fixture.relay(exchangeFor([routeTo(upstreamAt(upstream.url))])));
    expect(error.code).toBe('upstream_timeout');
    expect(await upstream.waitForClose(1)).toBe('client left');
  });

  it('give up a stream that only pings', async () => {
    fixture.reopen({ progressTimeout: 0.2 });
    await using upstream = await createUpstream((request, response) => {
      response.sse();
      const timer = setInterval(() => void response.write(': ping\n\n'), 10);
      void request.closed.then(() => clearInterval(timer));
    });
    const exchange = exchangeFor([routeTo(upstreamAt(upstream.url))], { isStream: true });
    expect((await refusalOf(fixture.relay(exchange))).code).toBe('upstream_timeout');
  });

  it('give up a whole answer that stops half-way', async () => {
    fixture.reopen({ idleTimeout: 0.1 });
    await using upstream = await createUpstream((_request, response) =>
      response.head(200, { 'content-type': 'application/json' }),
    );
    const exchange = exchangeFor([routeTo(upstreamAt(upstream.url))]);
    expect((await refusalOf(fixture.relay(exchange))).code).toBe('upstream_timeout');
  });

  it('give up a whole answer that is not complete at the deadline', async () => {
    fixture.reopen({ deadline: 0.2 });
    await using upstream = await createUpstream((request, response) => {
      response.head(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => void response.write(' '), 10);
      void request.closed.then(() => clearInterval(timer));
    });
    const exchange = exchangeFor([routeTo(upstreamAt(upstream.url))]);
    expect((await refusalOf(fixture.relay(exchange))).code).toBe('upstream_timeout');
  });

  it.each([
    ['a whole answer', 'application/json', ' ', false],
    ['a stream', 'text/event-stream', ': ping\n\n', true],
  ])('leave time for the backup while %s drips', async (_name, type, drop, isStream) => {
    fixture.reopen({ deadline: 2 });
    await using upstream = await createUpstream((request, response) => {
      response.head(200, { 'content-type': type });
      const timer = setInterval(() => void response.write(drop), 10);
      void request.closed.then(() => clearInterval(timer));
    });
    await using backup = await createUpstream(serve);
    const there = [routeTo(upstreamAt(upstream.url)), routeTo(upstreamAt(backup.url, { name: 'two' }))];
    const exchange = exchangeFor(there, { isStream });
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect(attemptsOf(exchange)).toEqual(['one/model-there failed 200', 'two/model-there served 200']);
  });

  it('are all for one route when the backup is out of service', async () => {
    fixture.reopen({ deadline: 2 });
    fixture.health.options.failures = 1;
    const late = Promise.withResolvers<void>();
    await using upstream = await createUpstream(async (_request, response) => {
      await late.promise;
      response.json(200, answer);
    });
    await using backup = await createUpstream(refuse(500));
    const two = routeTo(upstreamAt(backup.url, { name: 'two' }));
    await refusalOf(fixture.relay(exchangeFor([two])));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const relayed = fixture.relay(exchangeFor([routeTo(upstreamAt(upstream.url)), two]));
    await upstream.waitForRequest(1);
    // More than half of the time, of which a backup would have the rest.
    await vi.advanceTimersByTimeAsync(1_300);
    late.resolve();
    expect((await relayed).status).toBe(200);
  });

  it('break off a stream that falls silent after it began', async () => {
    fixture.reopen({ idleTimeout: 0.1 });
    await using upstream = await createUpstream((_request, response) => response.sse(content('a')));
    const exchange = exchangeFor([routeTo(upstreamAt(upstream.url))], { isStream: true });
    const reply = await fixture.relay(exchange);
    expect((await refusalOf(textOf(reply))).code).toBe('upstream_timeout');
    expect(attemptsOf(exchange)).toEqual(['one/model-there failed 200']);
  });

  it('of the route take precedence over those of the stage', async () => {
    await using upstream = await createUpstream(() => undefined);
    const route = routeTo(upstreamAt(upstream.url), { firstByteTimeout: 0.1 });
    expect((await refusalOf(fixture.relay(exchangeFor([route])))).code).toBe('upstream_timeout');
  });

  it('give up a connection that does not open', async () => {
    fixture.reopen({ connectTimeout: 0.1 });
    // TEST-NET-1 (RFC 5737): either nobody answers, or the system says at once that there is no way.
    const exchange = exchangeFor([routeTo(upstreamAt('http://192.0.2.1'))]);
    expect((await refusalOf(fixture.relay(exchange))).code).toMatch(/^upstream_(timeout|failed)$/);
  });
});

describe('an exchange that ends early', () => {
  it('before the answer began closes the upstream and tries no other route', async () => {
    await using upstream = await createUpstream(() => undefined);
    const there = upstreamAt(upstream.url);
    const exchange = exchangeFor([routeTo(there), routeTo(there)]);
    const gone = new ClientGone();
    const relayed = fixture.relay(exchange);
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
    await expect(fixture.relay(exchange)).rejects.toBe(gone);
    await fixture.settled(upstream);
    expect(upstream.requests).toHaveLength(0);
  });

  it('in the middle of a stream closes the upstream', async () => {
    await using upstream = await createUpstream((_request, response) => response.sse(content('a')));
    const exchange = exchangeFor([routeTo(upstreamAt(upstream.url))], { isStream: true });
    const reply = await fixture.relay(exchange);
    const text = textOf(reply).catch(() => undefined);
    exchange.abort(new ClientGone());
    expect(await upstream.waitForClose(1)).toBe('client left');
    await text;
    expect(attemptsOf(exchange)).toEqual(['one/model-there aborted 200']);
  });

  it('by the gateway gives the reader the reason', async () => {
    await using upstream = await createUpstream((_request, response) => response.sse(content('a')));
    const exchange = exchangeFor([routeTo(upstreamAt(upstream.url))], { isStream: true });
    const reply = await fixture.relay(exchange);
    const reason = new GatewayError('shutting_down', 'the gateway stops');
    const text = textOf(reply);
    exchange.abort(reason);
    await expect(text).rejects.toBe(reason);
  });

  it('by a reader that destroys the body closes the upstream', async () => {
    await using upstream = await createUpstream((_request, response) => response.sse(content('a')));
    const reply = await fixture.relay(exchangeFor([routeTo(upstreamAt(upstream.url))], { isStream: true }));
    (reply.body as Readable).destroy();
    expect(await upstream.waitForClose(1)).toBe('client left');
  });
});

describe('a stream', () => {
  it('arrives as it was sent, with the reported tokens', async () => {
    const counted = { ...finish, choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } };
    const { upstream, exchange, reply } = await relayStream((_request, response) => {
      response.sse(content('a'), content('b'), finish, counted, '[DONE]');
      response.end();
    });
    await using _ = upstream;
    const data = [content('a'), content('b'), finish, counted].map((event) => JSON.stringify(event));
    expect(await textOf(reply)).toBe([...data, '[DONE]'].map((event) => `data: ${event}\n\n`).join(''));
    expect(exchange.get(delivery).usage).toMatchObject({ input: 3, output: 2 });
    expect(attemptsOf(exchange)).toEqual(['one/model-there served 200']);
  });

  it('that is cut after its first content fails, and no other route takes over', async () => {
    const { upstream, exchange, reply } = await relayStream(breakingOff('a', fixture));
    await using _ = upstream;
    expect((await refusalOf(textOf(reply))).code).toBe('upstream_failed');
    expect(attemptsOf(exchange)).toEqual(['one/model-there failed 200']);
  });

  const chunkedHead = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
  const firstContent = chunkedHead + chunk(eventOf(content('a')));

  it.each<[string, Handler]>([
    ['ends', (_request, response) => (response.raw(firstContent), response.cut())],
    ['is reset', (_request, response) => (response.raw(firstContent), setImmediate(() => response.reset()))],
    [
      'reports an error',
      (_request, response) => response.raw(firstContent + chunk(eventOf({ error: { message: 'no' } }))),
    ],
    ['becomes garbage', (_request, response) => response.raw(`${firstContent}no chunk`)],
  ])('that %s together with its first content fails over, because no byte was sent', async (_name, handler) => {
    await using upstream = await createUpstream(handler);
    await using backup = await createUpstream((_request, response) => {
      response.sse(content('b'), finish, '[DONE]');
      response.end();
    });
    const routes = [upstreamAt(upstream.url), upstreamAt(backup.url, { name: 'two' })].map((one) => routeTo(one));
    const exchange = exchangeFor(routes, { isStream: true });
    const text = await textOf(await fixture.relay(exchange));
    expect(text).not.toContain('"a"');
    expect(attemptsOf(exchange)).toEqual(['one/model-there failed 200', 'two/model-there served 200']);
  });

  it('that is complete in one packet is served', async () => {
    const { upstream, exchange, reply } = await relayStream((_request, response) => {
      response.raw(`${firstContent}${chunk(eventOf(finish))}${chunk('data: [DONE]\n\n')}0\r\n\r\n`);
      response.cut();
    });
    await using _ = upstream;
    expect(await textOf(reply)).toContain('"a"');
    expect(attemptsOf(exchange)).toEqual(['one/model-there served 200']);
  });

  it('whose upstream stays open after the last event still ends', async () => {
    const { upstream, reply } = await relayStream((_request, response) => response.sse(content('a'), finish, '[DONE]'));
    await using _ = upstream;
    expect(await textOf(reply)).toContain('[DONE]');
    expect(await upstream.waitForClose(1)).toBe('client left');
  });
});

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const relayWhole = async (handler: Handler) => {
  await using upstream = await createUpstream(handler);
  const reply = await fixture.relay(exchangeFor([routeTo(upstreamAt(upstream.url))]));
  return JSON.parse(await textOf(reply)) as unknown;
};
const saying = (text: string) =>
  expect.objectContaining({
    choices: [expect.objectContaining({ message: expect.objectContaining({ content: text }) })],
  });

describe('a whole answer that comes as a stream', () => {
  it('is complete when the stream is finished, though the upstream stays open', async () => {
    expect(await relayWhole((_request, response) => response.sse(content('a'), finish, '[DONE]'))).toEqual(saying('a'));
  });

  it('is waited for when the stream goes on after its finish', async () => {
    const answered = relayWhole(async (_request, response) => {
      response.sse(content('a'), finish);
      // In a chunk after that of the finish, and then silence for longer than the grace.
      await pause(finishGraceMs / 20);
      await response.event(content('b'));
      await pause(2 * finishGraceMs);
      await response.event(content('c'));
      await response.event('[DONE]');
      response.end();
    });
    expect(await answered).toEqual(saying('abc'));
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
    'is not opened by one account on which an upstream %s, but by five conversations of two',
    async (_name, isStream, crash) => {
      await using upstream = await createUpstream(crash);
      const route = routeTo(upstreamAt(upstream.url));
      const ask = async (prompt: string, account = 'a') => {
        const reply = fixture.relay(exchangeFor([route], { isStream, prompt, account }));
        await reply.then(textOf).catch(() => undefined);
        return fixture.health.getStatuses([route])[0]?.state;
      };
      const states = [];
      for (let time = 0; time < 10; time++) states.push(await ask('same'));
      for (const prompt of ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k']) states.push(await ask(prompt));
      expect(states).toEqual(Array.from({ length: 20 }, () => 'closed'));
      expect(await ask('b', 'another')).toBe('open');
      expect(upstream.requests).toHaveLength(21);
    },
  );

  it('is not opened by one conversation that grows with each turn, and has no name', async () => {
    await using upstream = await createUpstream(refuse(500));
    const route = routeTo(upstreamAt(upstream.url));
    const turns = Array.from({ length: 10 }, (_, turn) => ({ role: 'assistant', content: `answer ${turn}` }));
    for (let turn = 0; turn < 10; turn++)
      await refusalOf(fixture.relay(exchangeFor([route], { history: turns.slice(0, turn) })));
    expect(fixture.health.getStatuses([route])[0]?.state).toBe('closed');
  });

  it('is opened by the same words of several accounts', async () => {
    await using upstream = await createUpstream(refuse(500));
    const route = routeTo(upstreamAt(upstream.url));
    for (const account of ['a', 'b', 'c', 'd', 'e']) await refusalOf(fixture.relay(exchangeFor([route], { account })));
    expect(fixture.health.getStatuses([route])[0]?.state).toBe('open');
  });

  it('is opened by one conversation if nothing listens, which no request can cause', async () => {
    const route = routeTo(upstreamAt('http://127.0.0.1:1'));
    for (let time = 0; time < 5; time++) await refusalOf(fixture.relay(exchangeFor([route])));
    expect(fixture.health.getStatuses([route])[0]?.state).toBe('open');
  });
});
