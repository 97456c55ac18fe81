import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { cachedCall, cacheStatus } from '#core/gateway/facts.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import { ClientGone, GatewayError } from '#core/platform/errors/table.ts';
import { chatEndpoint, createExchange, modelsEndpoint } from '../../support/exchange.ts';
import { descriptors } from '../../support/formats.ts';
import { modelOf } from '../format/catalog/catalog-fixture.ts';
import { routeTo, upstreamAt } from '../upstream/fixture.ts';
import { CacheFixture, exchangeOf, outcome, stream, whole } from './fixture.ts';

const modelAt = (url: string) => modelOf('m', ['chat'], { routes: [routeTo(upstreamAt(url))] });
const fixture = CacheFixture.use();

const responsesEndpoint: Endpoint = {
  ...chatEndpoint,
  name: 'responses',
  path: '/v1/responses',
  format: descriptors.responses,
};
const countTokensEndpoint: Endpoint = { ...chatEndpoint, name: 'count', path: '/v1/count', isMetered: false };
describe('the model of a cached reply', () => {
  it.each([
    ['m', 'dp/m'],
    ['dp/m', 'dp/m'],
    ['alias', 'alias'],
  ])('requested as %s is known as %s', async (model, modelName) => {
    await fixture.ask({ body: { model } });
    const { cache, exchange } = await fixture.ask({ body: { model } });
    expect(cache).toBe('hit');
    expect(exchange.find(cachedCall)).toMatchObject({ model: { id: 'm' }, modelName, isStream: false });
  });

  it('a cached reply has the model of its path, and whether it is a stream', async () => {
    const asked = { params: { id: 'm' }, body: { contents: [] } };
    fixture.upstream.mockImplementation(() =>
      stream(Readable.from([Buffer.from('data: {}\n\n')], { objectMode: false })),
    );
    await fixture.ask(asked);
    const { cache, exchange } = await fixture.ask(asked);
    expect(cache).toBe('hit');
    expect(exchange.find(cachedCall)).toMatchObject({ model: { id: 'm' }, modelName: 'dp/m', isStream: true });
  });

  it('without a cached reply the format determines the model', async () => {
    const { exchange } = await fixture.ask();
    expect(exchange.find(cachedCall)).toBeUndefined();
  });
});

describe('the header X-Service-Cache', () => {
  it.each(['0', '-1', '1.5', 'abc', '101', '', ' ', '1e1', '0x5', '05', '99999999999999999999', '5, 5'])(
    'is refused when it is "%s"',
    async (seconds) => {
      const { status, exchange } = await fixture.ask({ seconds });
      expect(status).toBe(400);
      expect(exchange.failure).toBeInstanceOf(GatewayError);
      expect(exchange.failure).toMatchObject({
        code: 'invalid_request',
        message:
          'The header X-Service-Cache must be an integer from 1 to 100, the number of seconds to cache the response.',
        details: { param: 'X-Service-Cache' },
      });
      expect(fixture.upstream).not.toHaveBeenCalled();
    },
  );

  it.each(['1', '100'])('the header accepts %s', async (seconds) => {
    expect(await fixture.ask({ seconds })).toMatchObject({ status: 200, cache: 'miss' });
    expect(await fixture.ask({ seconds })).toMatchObject({ status: 200, cache: 'hit' });
  });

  it('a reply to a request with the header is cached', async () => {
    for (let count = 0; count < 2; count++) {
      const exchange = createExchange({ body: {} });
      fixture.pipeline.start(exchange);
      expect((await fixture.pipeline.answer(exchange)).headers).not.toHaveProperty('x-service-cache');
      await fixture.pipeline.finish(exchange, outcome);
    }
    expect(fixture.upstream).toHaveBeenCalledTimes(2);
  });

  it.each([modelsEndpoint, countTokensEndpoint])('the header is validated on $path too', async (endpoint) => {
    expect((await fixture.ask({ endpoint, seconds: 'abc' })).status).toBe(400);
    expect(fixture.upstream).not.toHaveBeenCalled();
  });

  it.each([modelsEndpoint, countTokensEndpoint])('the header caches nothing on $path', async (endpoint) => {
    for (const text of ['{"n":1}', '{"n":2}'])
      expect(await fixture.ask({ endpoint })).toMatchObject({ status: 200, cache: undefined, text });
  });

  it('the header is ignored on public endpoints', async () => {
    const endpoint = { ...modelsEndpoint, isPublic: true };
    expect((await fixture.ask({ endpoint, seconds: 'abc' })).status).toBe(200);
  });
});

describe('a cached reply', () => {
  it('a cached reply has headers for its age and lifetime', async () => {
    const miss = await fixture.ask();
    expect(miss.headers).toMatchObject({ 'x-service-cache': 'miss', age: '0', 'x-service-cache-expires-in': '10' });
    expect(miss.exchange.find(cacheStatus)).toBe('miss');
    fixture.clock += 3_400;
    const hit = await fixture.ask();
    expect(hit.headers).toEqual({
      'content-type': 'application/json',
      'x-service-cache': 'hit',
      age: '3',
      'x-service-cache-expires-in': '7',
    });
    expect(hit.exchange.find(cacheStatus)).toBe('hit');
    expect(hit.text).toBe(miss.text);
  });

  it('a cached reply expires', async () => {
    await fixture.ask();
    fixture.clock += 10_000;
    expect(await fixture.ask()).toMatchObject({ cache: 'miss', text: '{"n":2}' });
  });

  it('a cached reply is found whatever the key order and white space', async () => {
    await fixture.ask({ body: '{"a":1,"b":{"c":[1,2],"d":null}}' });
    expect((await fixture.ask({ body: ' { "b" : {"d":null, "c":[1, 2]},\n"a":1.0}' })).cache).toBe('hit');
  });

  it.each([
    ['in the body', { body: { model: 'm' } }, { body: { model: 'dp/m' } }],
    ['in the path', { params: { id: 'm' } }, { params: { id: 'dp/m' } }],
  ])('is found for short and public name of a model %s', async (_name, short, long) => {
    await fixture.ask(short);
    expect((await fixture.ask(long)).cache).toBe('hit');
    expect((await fixture.ask(short)).cache).toBe('hit');
  });

  it('a cached reply is not found for an alias of its model, because replies carry the alias', async () => {
    await fixture.ask({ body: { model: 'm' } });
    expect((await fixture.ask({ body: { model: 'alias' } })).cache).toBe('miss');
    expect((await fixture.ask({ body: { model: 'alias' } })).cache).toBe('hit');
  });

  it('a cached reply is not found for an alias that points to another model after a reload', async () => {
    await fixture.ask({ body: { model: 'alias' } });
    await fixture.open(fixture.shared, [modelOf('other')]);
    expect((await fixture.ask({ body: { model: 'alias' } })).cache).toBe('miss');
  });

  it('a cached reply is not found for a model that a reload sends elsewhere, and is found for one that stays', async () => {
    await fixture.open(fixture.shared, [modelAt('http://127.0.0.1:1/v1')]);
    await fixture.ask();
    await fixture.open(fixture.shared, [modelAt('http://127.0.0.1:1/v1')]);
    expect((await fixture.ask()).cache).toBe('hit');
    await fixture.open(fixture.shared, [modelAt('http://127.0.0.1:2/v1')]);
    expect((await fixture.ask()).cache).toBe('miss');
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
  ])('is not found for %s', async (_name, asked) => {
    await fixture.ask({ body: { list: [1, 2] } });
    expect((await fixture.ask(asked)).cache).toBe('miss');
  });

  it('a cached reply is not found for another integer over 2⁵³', async () => {
    await fixture.ask({ body: '{"seed":9007199254740992}' });
    expect((await fixture.ask({ body: '{"seed":9007199254740993}' })).cache).toBe('miss');
    expect((await fixture.ask({ body: '{"seed": 9007199254740993}' })).cache).toBe('hit');
  });

  it('a cached stream is replayed byte for byte', async () => {
    const events = ['data: {"a":"é"}\n\n', 'data: [DONE]\n\n'];
    fixture.upstream.mockImplementation(() =>
      stream(
        Readable.from(
          events.map((event) => Buffer.from(event)),
          { objectMode: false },
        ),
      ),
    );
    expect(await fixture.ask()).toMatchObject({ cache: 'miss', text: events.join('') });
    const hit = await fixture.ask();
    expect(hit).toMatchObject({ cache: 'hit', text: events.join('') });
    expect(hit.headers['content-type']).toBe('text/event-stream');
    expect(fixture.upstream).toHaveBeenCalledOnce();
  });

  it.each(['anthropic-version', 'anthropic-beta', 'openai-beta'])(
    'a cached reply is not found for another %s',
    async (name) => {
      const send = async (value: string) => {
        const exchange = exchangeOf({ headers: { [name]: value } });
        fixture.pipeline.start(exchange);
        const { headers } = await fixture.pipeline.answer(exchange);
        await fixture.pipeline.finish(exchange, outcome);
        return headers['x-service-cache'];
      };
      expect([await send('one'), await send('two'), await send('one')]).toEqual(['miss', 'miss', 'hit']);
    },
  );

  it('a cached reply can be as large as max_bytes', async () => {
    fixture.upstream.mockImplementation(() => whole('x'.repeat(1_000)));
    await fixture.ask();
    expect((await fixture.ask()).cache).toBe('hit');
  });
});

describe('a reply that is not cached', () => {
  it.each([201, 400, 404, 429, 500, 503])('a reply with the status %i is not cached', async (status) => {
    fixture.upstream.mockImplementation(() => whole('{}', status));
    const reply = await fixture.ask();
    expect(reply.status).toBe(status);
    expect(reply.cache).toBeUndefined();
    await fixture.expectNothingKept();
  });

  it('a thrown error is not cached', async () => {
    fixture.upstream.mockRejectedValue(new GatewayError('upstream_timeout', 'no route answered'));
    expect((await fixture.ask()).status).toBe(504);
    await fixture.expectNothingKept();
  });

  it.each([
    ['whole', () => whole('x'.repeat(1_001))],
    ['streamed', () => stream(Readable.from([Buffer.alloc(600, 'x'), Buffer.alloc(401, 'x')], { objectMode: false }))],
  ])('is too large and %s, and still reaches the client', async (_name, reply) => {
    fixture.upstream.mockImplementation(reply);
    expect((await fixture.ask()).text).toHaveLength(1_001);
    await fixture.expectNothingKept();
  });

  it.each([
    ['with an error', new Error('the upstream is gone')],
    ['without one', undefined],
  ])('is a stream that was destroyed %s', async (_name, error) => {
    const source = new Readable({ read: () => undefined });
    fixture.upstream.mockImplementation(() => stream(source));
    const exchange = exchangeOf();
    fixture.pipeline.start(exchange);
    const { body } = await fixture.pipeline.answer(exchange);
    source.push('data: half');
    source.destroy(error);
    await expect(buffer(body as Readable)).rejects.toThrow(error?.message ?? 'closed before its end');
    await fixture.pipeline.finish(exchange, { ...outcome, kind: 'failed' });
    await fixture.expectNothingKept();
  });

  it('a reply whose reader left halfway is not cached, even if its stream then ends', async () => {
    const source: Readable = new Readable({
      read: () => undefined,
      destroy(error, done) {
        source.push(null);
        done(error);
      },
    });
    fixture.upstream.mockImplementation(() => stream(source));
    const exchange = exchangeOf();
    fixture.pipeline.start(exchange);
    const { body } = await fixture.pipeline.answer(exchange);
    source.push('data: half');
    await once(body as Readable, 'data');
    (body as Readable).destroy();
    await once(source, 'close');
    await fixture.pipeline.finish(exchange, outcome);
    await fixture.expectNothingKept();
  });

  it('a reply of a failed exchange is not cached, even if its stream ends', async () => {
    fixture.upstream.mockImplementation((exchange) => {
      exchange.fail(new GatewayError('upstream_timeout', 'the upstream fell silent'));
      return stream(Readable.from([Buffer.from('data: half\n\n')], { objectMode: false }));
    });
    await fixture.ask();
    await fixture.expectNothingKept();
  });

  it('a reply to a client that has left is not cached', async () => {
    const source = new Readable({ read: () => undefined });
    fixture.upstream.mockImplementation(() => stream(source));
    const exchange = exchangeOf();
    fixture.pipeline.start(exchange);
    const { body } = await fixture.pipeline.answer(exchange);
    source.push('data: half');
    exchange.abort(new ClientGone());
    (body as Readable).destroy();
    await fixture.pipeline.finish(exchange, { ...outcome, kind: 'aborted' });
    expect(source.destroyed).toBe(true);
    await fixture.expectNothingKept();
  });
});
