import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ClientGone, GatewayError } from '#core/errors.ts';
import { cacheStatus, principal } from '#core/facts.ts';
import type { Host } from '#core/host.ts';
import type { Endpoint } from '#core/pipeline/endpoint.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import { Pipeline } from '#core/pipeline/pipeline.ts';
import type { Reply } from '#core/pipeline/reply.ts';
import type { Outcome } from '#core/pipeline/stage.ts';
import { MemoryShared } from '#core/shared/memory.ts';
import { RedisShared } from '#core/shared/redis.ts';
import { type Shared, SharedUnavailable } from '#core/shared/shared.ts';
import { auth } from '../../plugins/auth/stage.ts';
import { cacheStage } from '../../plugins/cache/stage.ts';
import { mistakesIn, readYaml } from '../core/accounts/gateway-yaml.ts';
import { silentLog } from '../support/database.ts';
import { chatEndpoint, createExchange, modelsEndpoint } from '../support/exchange.ts';
import { redisUrl } from '../support/redis.ts';

type Upstream = (exchange: Exchange) => Reply | Promise<Reply>;
type Asked = {
  body?: string | object;
  seconds?: string | undefined;
  account?: string;
  endpoint?: Endpoint;
  headers?: Record<string, string>;
  params?: Record<string, string>;
  query?: string;
};

const responsesEndpoint: Endpoint = { ...chatEndpoint, name: 'responses', path: '/v1/responses', format: 'responses' };
const countTokensEndpoint: Endpoint = { ...chatEndpoint, name: 'count', path: '/v1/count', isMetered: false };
const outcome: Outcome = {
  kind: 'answered',
  status: 200,
  error: undefined,
  bytesSent: 2,
  duration: 1,
  firstByteAfter: 1,
};

let clock: number;
let shared: Shared;
let warn: ReturnType<typeof vi.fn<(message: string) => void>>;
let logged: ReturnType<typeof vi.fn<(message: string, error?: unknown) => void>>;
let upstream: ReturnType<typeof vi.fn<Upstream>>;
let pipeline: Pipeline;

beforeEach(async () => {
  clock = 1_800_000_000_000;
  let count = 0;
  upstream = vi.fn<Upstream>(() => whole(`{"n":${++count}}`));
  await open(new MemoryShared(() => clock));
});

afterEach(() => void vi.useRealTimers());

async function open(store: Shared): Promise<void> {
  shared = store;
  warn = vi.fn<(message: string) => void>();
  logged = vi.fn<(message: string, error?: unknown) => void>();
  const host: Partial<Host> = { shared, log: { info: () => undefined, warn, error: logged } };
  const stage = await cacheStage.create({ max_age: 100, max_bytes: 1_000 }, host as Host);
  const answer = { enter: (exchange: Exchange) => () => upstream(exchange) };
  pipeline = new Pipeline(
    [
      { name: 'cache', stage },
      { name: 'upstream', stage: answer },
    ],
    host.log as Host['log'],
  );
}

const whole = (body: string, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body,
});
const stream = (body: Readable): Reply => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body });

function exchangeOf({
  body = { model: 'm' },
  seconds = '10',
  account = 'a',
  endpoint = chatEndpoint,
  headers = {},
  params = {},
  query = '',
}: Asked = {}) {
  const exchange = createExchange({
    endpoint,
    body,
    params,
    query,
    headers: { ...headers, 'x-service-cache': seconds },
  });
  exchange.set(principal, { accountId: account, keyId: 'k', keyHint: 'dp_…', limits: undefined, requestCount: 0 });
  return exchange;
}

/** Sends a request through to its end, and reads the answer. */
async function ask(asked: Asked = {}) {
  const exchange = exchangeOf(asked);
  const asks = pipeline;
  asks.begin(exchange);
  const { body, ...reply } = await asks.answer(exchange);
  const bytes = body instanceof Readable ? await buffer(body) : Buffer.from(body ?? '');
  await asks.finish(exchange, outcome);
  return { ...reply, text: bytes.toString(), cache: reply.headers['x-service-cache'], exchange };
}

/** Begins a request and waits until the upstream is asked. */
async function lead() {
  const reached = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Reply>();
  upstream.mockImplementationOnce(() => {
    reached.resolve();
    return answer.promise;
  });
  const exchange = exchangeOf();
  pipeline.begin(exchange);
  const reply = pipeline.answer(exchange);
  await reached.promise;
  return { exchange, reply, answer };
}

/** Resolves when somebody waits for a leader. */
function someoneWaits(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { events } = shared;
  const subscribe = events.subscribe.bind(events);
  vi.spyOn(events, 'subscribe').mockImplementationOnce(async (...parameters) => {
    const end = await subscribe(...parameters);
    resolve();
    return end;
  });
  return promise;
}

describe('the options of cache', () => {
  const known = { stages: [auth, cacheStage] };
  const read = (text: string) => readYaml(`pipeline: [auth, ${text}]`, known).stages[1]?.options;
  const mistakes = (text: string) => mistakesIn(`pipeline: [${text}]`, known);

  it('have a default each', () => {
    expect(read('cache')).toEqual({ max_age: 86_400, max_bytes: 1_048_576 });
  });

  it('may be given one by one', () => {
    expect(read('cache: { max_age: 60 }')).toEqual({ max_age: 60, max_bytes: 1_048_576 });
  });

  it.each(['max_age', 'max_bytes'])('refuse a %s that is no whole number within bounds', (name) => {
    for (const value of ['0', '-1', '1.5', 'long', 'null', '1e12'])
      expect(mistakes(`auth, cache: { ${name}: ${value} }`)).toEqual([expect.stringContaining(name)]);
  });

  it('refuse names that do not exist', () => {
    expect(mistakes('auth, cache: { maxage: 5 }')).toEqual([expect.stringContaining('did you mean "max_age"')]);
  });

  it('are refused before a stage that knows the caller', () => {
    expect(mistakes('cache, auth')).toEqual([expect.stringContaining('principal')]);
  });
});

describe('the header X-Service-Cache', () => {
  it.each(['0', '-1', '1.5', 'abc', '101', '', ' ', '1e1', '0x5', '05', '99999999999999999999', '5, 5'])(
    'is refused when it is "%s"',
    async (seconds) => {
      const { status, exchange } = await ask({ seconds });
      expect(status).toBe(400);
      expect(exchange.failure).toBeInstanceOf(GatewayError);
      expect(exchange.failure).toMatchObject({
        code: 'invalid_request',
        message: 'the header X-Service-Cache has to be a whole number of seconds from 1 to 100',
        details: { param: 'X-Service-Cache' },
      });
      expect(upstream).not.toHaveBeenCalled();
    },
  );

  it.each(['1', '100'])('is accepted when it is %s', async (seconds) => {
    expect(await ask({ seconds })).toMatchObject({ status: 200, cache: 'miss' });
    expect(await ask({ seconds })).toMatchObject({ status: 200, cache: 'hit' });
  });

  it('is what makes an answer kept', async () => {
    for (let count = 0; count < 2; count++) {
      const exchange = createExchange({ body: {} });
      pipeline.begin(exchange);
      expect((await pipeline.answer(exchange)).headers).not.toHaveProperty('x-service-cache');
      await pipeline.finish(exchange, outcome);
    }
    expect(upstream).toHaveBeenCalledTimes(2);
  });

  it.each([modelsEndpoint, countTokensEndpoint])('means nothing on $path', async (endpoint) => {
    expect((await ask({ endpoint, seconds: 'abc' })).status).toBe(200);
  });
});

describe('an answer that is kept', () => {
  it('says how old it is and how long it has to live', async () => {
    const miss = await ask();
    expect(miss.headers).toMatchObject({ 'x-service-cache': 'miss', age: '0', 'x-service-cache-expires-in': '10' });
    expect(miss.exchange.find(cacheStatus)).toBe('miss');
    clock += 3_400;
    const hit = await ask();
    expect(hit.headers).toEqual({
      'content-type': 'application/json',
      'x-service-cache': 'hit',
      age: '3',
      'x-service-cache-expires-in': '7',
    });
    expect(hit.exchange.find(cacheStatus)).toBe('hit');
    expect(hit.text).toBe(miss.text);
  });

  it('is forgotten when its time is over', async () => {
    await ask();
    clock += 10_000;
    expect(await ask()).toMatchObject({ cache: 'miss', text: '{"n":2}' });
  });

  it('is found whatever the order of keys and the spacing', async () => {
    await ask({ body: '{"a":1,"b":{"c":[1,2],"d":null}}' });
    expect((await ask({ body: ' { "b" : {"d":null, "c":[1, 2]},\n"a":1.0}' })).cache).toBe('hit');
  });

  it.each([
    ['another order of a list', { body: { list: [2, 1] } }],
    ['another value', { body: { list: [1, 3] } }],
    ['another type', { body: { list: ['1', 2] } }],
    ['another key', { body: { lists: [1, 2] } }],
    ['a key more', { body: { list: [1, 2], more: null } }],
    ['another account', { body: { list: [1, 2] }, account: 'b' }],
    ['another path', { body: { list: [1, 2] }, endpoint: responsesEndpoint }],
    ['another model in the path', { body: { list: [1, 2] }, params: { id: 'm2' } }],
    ['another way of streaming in the query', { body: { list: [1, 2] }, query: 'alt=sse' }],
  ])('is not found by %s', async (_name, asked) => {
    await ask({ body: { list: [1, 2] } });
    expect((await ask(asked)).cache).toBe('miss');
  });

  it('is not found by another integer that is too large for a number', async () => {
    await ask({ body: '{"seed":9007199254740992}' });
    expect((await ask({ body: '{"seed":9007199254740993}' })).cache).toBe('miss');
    expect((await ask({ body: '{"seed": 9007199254740993}' })).cache).toBe('hit');
  });

  it('is replayed byte by byte when it was streamed', async () => {
    const events = ['data: {"a":"é"}\n\n', 'data: [DONE]\n\n'];
    upstream.mockImplementation(() =>
      stream(
        Readable.from(
          events.map((event) => Buffer.from(event)),
          { objectMode: false },
        ),
      ),
    );
    expect(await ask()).toMatchObject({ cache: 'miss', text: events.join('') });
    const hit = await ask();
    expect(hit).toMatchObject({ cache: 'hit', text: events.join('') });
    expect(hit.headers['content-type']).toBe('text/event-stream');
    expect(upstream).toHaveBeenCalledOnce();
  });

  it.each(['anthropic-version', 'anthropic-beta', 'openai-beta'])('is not found by another %s', async (name) => {
    const send = async (value: string) => {
      const exchange = exchangeOf({ headers: { [name]: value } });
      pipeline.begin(exchange);
      const { headers } = await pipeline.answer(exchange);
      await pipeline.finish(exchange, outcome);
      return headers['x-service-cache'];
    };
    expect([await send('one'), await send('two'), await send('one')]).toEqual(['miss', 'miss', 'hit']);
  });

  it('may be as large as it is allowed to be', async () => {
    upstream.mockImplementation(() => whole('x'.repeat(1_000)));
    await ask();
    expect((await ask()).cache).toBe('hit');
  });
});

/** The next to ask makes the answer. */
const expectNothingKept = async () => {
  upstream.mockImplementation(() => whole('{"fine":true}'));
  expect(await ask()).toMatchObject({ cache: 'miss', text: '{"fine":true}' });
};

describe('an answer that is not kept', () => {
  it.each([201, 400, 404, 429, 500, 503])('has the status %i', async (status) => {
    upstream.mockImplementation(() => whole('{}', status));
    const reply = await ask();
    expect(reply.status).toBe(status);
    expect(reply.cache).toBeUndefined();
    await expectNothingKept();
  });

  it('was thrown', async () => {
    upstream.mockRejectedValue(new GatewayError('upstream_timeout', 'no route answered'));
    expect((await ask()).status).toBe(504);
    await expectNothingKept();
  });

  it.each([
    ['whole', () => whole('x'.repeat(1_001))],
    ['streamed', () => stream(Readable.from([Buffer.alloc(600, 'x'), Buffer.alloc(401, 'x')], { objectMode: false }))],
  ])('is too large and %s, and reaches the client all the same', async (_name, reply) => {
    upstream.mockImplementation(reply);
    expect((await ask()).text).toHaveLength(1_001);
    await expectNothingKept();
  });

  it.each([
    ['with an error', new Error('the upstream is gone')],
    ['without one', undefined],
  ])('is a stream that was destroyed %s', async (_name, error) => {
    const source = new Readable({ read: () => undefined });
    upstream.mockImplementation(() => stream(source));
    const exchange = exchangeOf();
    pipeline.begin(exchange);
    const { body } = await pipeline.answer(exchange);
    source.push('data: half');
    source.destroy(error);
    await expect(buffer(body as Readable)).rejects.toThrow(error?.message ?? 'closed before its end');
    await pipeline.finish(exchange, { ...outcome, kind: 'failed' });
    await expectNothingKept();
  });

  it('was only half read when its reader left, though its stream then came to an end', async () => {
    const source: Readable = new Readable({
      read: () => undefined,
      destroy(error, done) {
        source.push(null);
        done(error);
      },
    });
    upstream.mockImplementation(() => stream(source));
    const exchange = exchangeOf();
    pipeline.begin(exchange);
    const { body } = await pipeline.answer(exchange);
    source.push('data: half');
    await once(body as Readable, 'data');
    (body as Readable).destroy();
    await once(source, 'close');
    await pipeline.finish(exchange, outcome);
    await expectNothingKept();
  });

  it('has failed before its end, though its stream ended well', async () => {
    upstream.mockImplementation((exchange) => {
      exchange.fail(new GatewayError('upstream_timeout', 'the upstream fell silent'));
      return stream(Readable.from([Buffer.from('data: half\n\n')], { objectMode: false }));
    });
    await ask();
    await expectNothingKept();
  });

  it('is one whose client has left', async () => {
    const source = new Readable({ read: () => undefined });
    upstream.mockImplementation(() => stream(source));
    const exchange = exchangeOf();
    pipeline.begin(exchange);
    const { body } = await pipeline.answer(exchange);
    source.push('data: half');
    exchange.abort(new ClientGone());
    (body as Readable).destroy();
    await pipeline.finish(exchange, { ...outcome, kind: 'aborted' });
    expect(source.destroyed).toBe(true);
    await expectNothingKept();
  });
});

describe('identical requests at the same time', () => {
  it('cause one call of the upstream', async () => {
    const replies = await Promise.all(Array.from({ length: 100 }, () => ask()));
    expect(upstream).toHaveBeenCalledOnce();
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(['{"n":1}']));
    expect(replies.filter(({ cache }) => cache === 'miss')).toHaveLength(1);
    expect(replies.filter(({ cache }) => cache === 'hit')).toHaveLength(99);
  });

  it('cause one call when the answer is streamed', async () => {
    upstream.mockImplementation(() => stream(Readable.from([Buffer.from('data: 1\n\n')], { objectMode: false })));
    const replies = await Promise.all(Array.from({ length: 100 }, () => ask()));
    expect(upstream).toHaveBeenCalledOnce();
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(['data: 1\n\n']));
  });

  it('cause a call each for each account', async () => {
    await Promise.all(['a', 'b', 'a', 'b'].map((account) => ask({ account })));
    expect(upstream).toHaveBeenCalledTimes(2);
  });

  it('go on with the next when the first one fails', async () => {
    const { exchange, reply, answer } = await lead();
    const waits = someoneWaits();
    const waiting = Promise.all(Array.from({ length: 5 }, () => ask()));
    await waits;
    answer.resolve(whole('{}', 500));
    expect((await reply).status).toBe(500);
    await pipeline.finish(exchange, outcome);
    const texts = (await waiting).map(({ text }) => text);
    expect(new Set(texts)).toEqual(new Set(['{"n":1}']));
    expect(upstream).toHaveBeenCalledTimes(2);
  });

  it('go on with the next when the client of the first one leaves', async () => {
    const { exchange, reply, answer } = await lead();
    const waits = someoneWaits();
    const waiting = ask();
    await waits;
    exchange.abort(new ClientGone());
    answer.reject(new ClientGone());
    await reply;
    await pipeline.finish(exchange, { ...outcome, kind: 'aborted' });
    expect(await waiting).toMatchObject({ cache: 'miss', text: '{"n":1}' });
  });

  it('go on with the next as soon as the answer is too large to be kept', async () => {
    const { exchange, reply, answer } = await lead();
    const waits = someoneWaits();
    const waiting = ask();
    await waits;
    const source = new Readable({ read: () => undefined });
    answer.resolve(stream(source));
    const { body } = await reply;
    (body as Readable).resume();
    source.push('x'.repeat(1_001));
    expect(await waiting).toMatchObject({ cache: 'miss', text: '{"n":1}' });
    source.push(null);
    await once(body as Readable, 'end');
    await pipeline.finish(exchange, outcome);
  });

  it('go on with the next when the instance of the first one dies', async () => {
    const { reply, answer, exchange } = await lead();
    const waits = someoneWaits();
    const waiting = ask();
    await waits;
    clock += 15_000;
    expect(await waiting).toMatchObject({ cache: 'miss', text: '{"n":1}' });
    answer.resolve(whole('{}'));
    await reply;
    await pipeline.finish(exchange, outcome);
  });

  it('wait for a first one that lives', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const extend = vi.spyOn(shared.cache, 'extend');
    const { exchange, reply, answer } = await lead();
    for (let count = 1; count <= 4; count++) {
      clock += 5_000;
      vi.advanceTimersByTime(5_000);
      expect(extend).toHaveBeenCalledTimes(count);
    }
    const waits = someoneWaits();
    const waiting = ask();
    await waits;
    answer.resolve(whole('{"slow":true}'));
    await reply;
    await pipeline.finish(exchange, outcome);
    expect(await waiting).toMatchObject({ cache: 'hit', text: '{"slow":true}' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are not kept waiting by one whose client left before it had the lead', async () => {
    const claim = shared.cache.claim.bind(shared.cache);
    const late = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    vi.spyOn(shared.cache, 'claim').mockImplementationOnce(async (...parameters) => {
      asked.resolve();
      await late.promise;
      return claim(...parameters);
    });
    const exchange = exchangeOf();
    pipeline.begin(exchange);
    const given = pipeline.answer(exchange);
    await asked.promise;
    exchange.abort(new ClientGone());
    await pipeline.finish(exchange, { ...outcome, kind: 'aborted' });
    late.resolve();
    await given;
    const poll = vi.spyOn(shared.events, 'subscribe');
    expect(await ask()).toMatchObject({ cache: 'miss', text: '{"n":1}' });
    expect(poll).not.toHaveBeenCalled();
  });

  it('wait no longer than their client does', async () => {
    const { exchange, reply, answer } = await lead();
    const waits = someoneWaits();
    const waiting = exchangeOf();
    pipeline.begin(waiting);
    const given = pipeline.answer(waiting);
    await waits;
    waiting.abort(new ClientGone());
    await given;
    await pipeline.finish(waiting, { ...outcome, kind: 'aborted' });
    expect(upstream).toHaveBeenCalledOnce();
    answer.resolve(whole('{"late":true}'));
    await reply;
    await pipeline.finish(exchange, outcome);
    expect(await ask()).toMatchObject({ cache: 'hit', text: '{"late":true}' });
  });

  it('find the answer though its signal was lost', async () => {
    const { exchange, reply, answer } = await lead();
    const waits = someoneWaits();
    const waiting = ask();
    await waits;
    vi.spyOn(shared.events, 'publish').mockResolvedValue();
    answer.resolve(whole('{"n":9}'));
    await reply;
    await pipeline.finish(exchange, outcome);
    expect(await waiting).toMatchObject({ cache: 'hit', text: '{"n":9}' });
  });
});

const away = async () => {
  throw new SharedUnavailable('the shared store did not answer');
};

describe.skipIf(redisUrl === undefined)('identical requests to several instances', () => {
  it('cause one call of the upstream', async () => {
    await using one = await RedisShared.open(redisUrl ?? '', silentLog);
    await using other = await RedisShared.open(redisUrl ?? '', silentLog);
    const account = `several-${randomUUID()}`;
    const calls: ReturnType<typeof ask>[] = [];
    for (const instance of [one, other]) {
      await open(instance);
      for (let count = 0; count < 50; count++) calls.push(ask({ account, seconds: '2' }));
    }
    const replies = await Promise.all(calls);
    expect(upstream).toHaveBeenCalledOnce();
    expect(replies.filter(({ cache }) => cache === 'miss')).toHaveLength(1);
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(['{"n":1}']));
  });
});

describe('a store that fails', () => {
  it.each(['get', 'claim'] as const)('in %s does not fail a request, and is reported once', async (name) => {
    const failing = vi.spyOn(shared.cache, name).mockImplementation(away);
    for (let count = 1; count <= 3; count++) expect(await ask()).toMatchObject({ status: 200, text: `{"n":${count}}` });
    expect(failing).toHaveBeenCalledOnce();
    expect(warn.mock.calls).toEqual([['answers are not cached: the shared store did not answer']]);
  });

  it('is asked again after a second', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    vi.spyOn(shared.cache, 'get').mockImplementationOnce(away);
    expect((await ask()).cache).toBeUndefined();
    vi.advanceTimersByTime(1_001);
    expect((await ask()).cache).toBe('miss');
    expect((await ask()).cache).toBe('hit');
  });

  it.each(['set', 'release'] as const)('in %s does not fail a request', async (name) => {
    vi.spyOn(shared.cache, name).mockImplementation(away);
    expect(await ask()).toMatchObject({ status: 200, text: '{"n":1}' });
    await vi.waitFor(() => expect(warn).toHaveBeenCalledOnce());
  });

  it('in set leaves nobody waiting', async () => {
    vi.spyOn(shared.cache, 'set').mockImplementation(away);
    const release = vi.spyOn(shared.cache, 'release');
    const { exchange, reply, answer } = await lead();
    answer.resolve(whole('{}'));
    await reply;
    await pipeline.finish(exchange, outcome);
    await vi.waitFor(() => expect(release).toHaveBeenCalledOnce());
  });

  it('in claim, but only seems to, does not keep the claim', async () => {
    const claim = shared.cache.claim.bind(shared.cache);
    vi.spyOn(shared.cache, 'claim').mockImplementationOnce(async (...parameters) => {
      await claim(...parameters);
      return away();
    });
    const release = vi.spyOn(shared.cache, 'release');
    expect(await ask()).toMatchObject({ status: 200, text: '{"n":1}' });
    expect(release).toHaveBeenCalledOnce();
  });

  it('while others wait lets each go on alone', async () => {
    const { exchange, reply, answer } = await lead();
    vi.spyOn(shared.events, 'subscribe').mockImplementation(away);
    expect(await ask()).toMatchObject({ status: 200, text: '{"n":1}' });
    answer.resolve(whole('{}'));
    await reply;
    await pipeline.finish(exchange, outcome);
  });

  it('with something unforeseen does not fail a request, and is reported', async () => {
    const mistake = new Error('out of memory');
    vi.spyOn(shared.cache, 'set').mockRejectedValue(mistake);
    expect((await ask()).status).toBe(200);
    await vi.waitFor(() => expect(logged).toHaveBeenCalledWith('an answer could not be cached', mistake));
  });

  it('by holding something that cannot be read counts as empty', async () => {
    await ask();
    vi.spyOn(shared.cache, 'get').mockResolvedValue({ value: Buffer.from('{"version":9}\n'), age: 1, expiresIn: 9 });
    expect(await ask()).toMatchObject({ status: 200, text: '{"n":2}' });
  });
});
