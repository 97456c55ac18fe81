import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { cacheStatus } from '#core/gateway/facts.ts';
import { ClientGone } from '#core/platform/errors/table.ts';
import { RedisShared } from '#core/platform/shared/redis.ts';
import { SharedUnavailable } from '#core/platform/shared/shared.ts';
import { silentLog } from '../../support/database.ts';
import { redisUrl } from '../../support/redis.ts';
import { CacheFixture, exchangeOf, outcome, stream, whole } from './fixture.ts';

const fixture = CacheFixture.use();

describe('identical requests in flight', () => {
  it('cause one upstream call', async () => {
    const replies = await Promise.all(Array.from({ length: 100 }, () => fixture.ask()));
    expect(fixture.upstream).toHaveBeenCalledOnce();
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(['{"n":1}']));
    expect(replies.filter(({ cache }) => cache === 'miss')).toHaveLength(1);
    expect(replies.filter(({ cache }) => cache === 'hit')).toHaveLength(99);
  });

  it('identical requests for a stream cause one upstream call', async () => {
    fixture.upstream.mockImplementation(() =>
      stream(Readable.from([Buffer.from('data: 1\n\n')], { objectMode: false })),
    );
    const replies = await Promise.all(Array.from({ length: 100 }, () => fixture.ask()));
    expect(fixture.upstream).toHaveBeenCalledOnce();
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(['data: 1\n\n']));
  });

  it('identical requests of different accounts cause a call each', async () => {
    await Promise.all(['a', 'b', 'a', 'b'].map((account) => fixture.ask({ account })));
    expect(fixture.upstream).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['fails', whole('{}', 500)],
    ['is too large to be kept', whole('x'.repeat(1_001))],
  ])('make their own calls when the first reply %s', async (_name, first) => {
    const { exchange, reply, answer } = await fixture.lead();
    const waits = fixture.allWait(5);
    const waiting = Promise.all(Array.from({ length: 5 }, () => fixture.ask()));
    await waits;
    const released = fixture.upstreamHolds(5);
    answer.resolve(first);
    await reply;
    await fixture.pipeline.finish(exchange, outcome);
    await released;
    expect((await waiting).map((own) => own.exchange.find(cacheStatus))).toEqual(Array(5).fill('miss'));
  });

  it('waiting requests make their own calls when the first reply breaks off', async () => {
    const { exchange, reply, answer } = await fixture.lead();
    const waits = fixture.allWait(5);
    const waiting = Promise.all(Array.from({ length: 5 }, () => fixture.ask()));
    await waits;
    const released = fixture.upstreamHolds(5);
    const source = new Readable({ read: () => undefined });
    answer.resolve(stream(source));
    const { body } = await reply;
    source.push('data: half');
    source.destroy(new Error('the upstream is gone'));
    await expect(buffer(body as Readable)).rejects.toThrow('the upstream is gone');
    await fixture.pipeline.finish(exchange, { ...outcome, kind: 'failed' });
    await released;
    await waiting;
  });

  it('waiting requests make their own calls when the first reply cannot be stored', async () => {
    const { exchange, reply, answer } = await fixture.lead();
    const waits = fixture.allWait(5);
    const waiting = Promise.all(Array.from({ length: 5 }, () => fixture.ask()));
    await waits;
    const released = fixture.upstreamHolds(5);
    vi.spyOn(fixture.shared.cache, 'set').mockRejectedValue(new SharedUnavailable('the shared store did not answer'));
    answer.resolve(whole('{}'));
    await reply;
    await fixture.pipeline.finish(exchange, outcome);
    await released;
    await waiting;
  });

  it('another request takes the lead when the client of the first one leaves', async () => {
    const { exchange, reply, answer } = await fixture.lead();
    const waits = fixture.allWait(5);
    const waiting = Promise.all(Array.from({ length: 5 }, () => fixture.ask()));
    await waits;
    exchange.abort(new ClientGone());
    answer.reject(new ClientGone());
    await reply;
    await fixture.pipeline.finish(exchange, { ...outcome, kind: 'aborted' });
    const replies = await waiting;
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(['{"n":1}']));
    expect(replies.filter(({ cache }) => cache === 'miss')).toHaveLength(1);
  });

  it('waiting requests make their own calls as soon as the first reply is too large', async () => {
    const { exchange, reply, answer } = await fixture.lead();
    const waits = fixture.allWait(5);
    const waiting = Promise.all(Array.from({ length: 5 }, () => fixture.ask()));
    await waits;
    const released = fixture.upstreamHolds(5);
    const source = new Readable({ read: () => undefined });
    answer.resolve(stream(source));
    const { body } = await reply;
    (body as Readable).resume();
    source.push('x'.repeat(1_001));
    await released;
    await waiting;
    source.push(null);
    await once(body as Readable, 'end');
    await fixture.pipeline.finish(exchange, outcome);
  });

  it('another request takes the lead when the instance of the first one dies', async () => {
    const { reply, answer, exchange } = await fixture.lead();
    const waits = fixture.someoneWaits();
    const waiting = fixture.ask();
    await waits;
    fixture.clock += 15_000;
    expect(await waiting).toMatchObject({ cache: 'miss', text: '{"n":1}' });
    answer.resolve(whole('{}'));
    await reply;
    await fixture.pipeline.finish(exchange, outcome);
  });

  it('requests wait for a leader that is alive', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const extend = vi.spyOn(fixture.shared.cache, 'extend');
    const { exchange, reply, answer } = await fixture.lead();
    for (let count = 1; count <= 4; count++) {
      fixture.clock += 5_000;
      vi.advanceTimersByTime(5_000);
      expect(extend).toHaveBeenCalledTimes(count);
    }
    const waits = fixture.someoneWaits();
    const waiting = fixture.ask();
    await waits;
    answer.resolve(whole('{"slow":true}'));
    await reply;
    await fixture.pipeline.finish(exchange, outcome);
    expect(await waiting).toMatchObject({ cache: 'hit', text: '{"slow":true}' });
    vi.advanceTimersByTime(60_000);
    expect(extend).toHaveBeenCalledTimes(4);
  });

  it('requests do not wait for a leader whose client left before it had the lead', async () => {
    const claim = fixture.shared.cache.claim.bind(fixture.shared.cache);
    const late = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    vi.spyOn(fixture.shared.cache, 'claim').mockImplementationOnce(async (...parameters) => {
      asked.resolve();
      await late.promise;
      return claim(...parameters);
    });
    const exchange = exchangeOf();
    fixture.pipeline.start(exchange);
    const given = fixture.pipeline.answer(exchange);
    await asked.promise;
    exchange.abort(new ClientGone());
    await fixture.pipeline.finish(exchange, { ...outcome, kind: 'aborted' });
    late.resolve();
    await given;
    const poll = vi.spyOn(fixture.shared.events, 'subscribe');
    expect(await fixture.ask()).toMatchObject({ cache: 'miss', text: '{"n":1}' });
    expect(poll).not.toHaveBeenCalled();
  });

  it('a request stops waiting when its client leaves', async () => {
    const { exchange, reply, answer } = await fixture.lead();
    const waits = fixture.someoneWaits();
    const waiting = exchangeOf();
    fixture.pipeline.start(waiting);
    const given = fixture.pipeline.answer(waiting);
    await waits;
    waiting.abort(new ClientGone());
    await given;
    await fixture.pipeline.finish(waiting, { ...outcome, kind: 'aborted' });
    expect(fixture.upstream).toHaveBeenCalledOnce();
    answer.resolve(whole('{"late":true}'));
    await reply;
    await fixture.pipeline.finish(exchange, outcome);
    expect(await fixture.ask()).toMatchObject({ cache: 'hit', text: '{"late":true}' });
  });

  it('a waiting request finds the reply when the signal is lost', async () => {
    const { exchange, reply, answer } = await fixture.lead();
    const waits = fixture.someoneWaits();
    const waiting = fixture.ask();
    await waits;
    vi.spyOn(fixture.shared.events, 'publish').mockResolvedValue();
    answer.resolve(whole('{"n":9}'));
    await reply;
    await fixture.pipeline.finish(exchange, outcome);
    expect(await waiting).toMatchObject({ cache: 'hit', text: '{"n":9}' });
  });
});

describe.skipIf(redisUrl === undefined)('identical requests to several instances', () => {
  it('cause one upstream call', async () => {
    await using one = await RedisShared.open(redisUrl ?? '', silentLog);
    await using other = await RedisShared.open(redisUrl ?? '', silentLog);
    const account = `several-${randomUUID()}`;
    const calls: ReturnType<CacheFixture['ask']>[] = [];
    for (const instance of [one, other]) {
      await fixture.open(instance);
      for (let count = 0; count < 50; count++) calls.push(fixture.ask({ account, seconds: '60' }));
    }
    const replies = await Promise.all(calls);
    expect(fixture.upstream).toHaveBeenCalledOnce();
    expect(replies.filter(({ cache }) => cache === 'miss')).toHaveLength(1);
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(['{"n":1}']));
  });

  it('waiting requests of other instances make their own calls when the first reply fails', async () => {
    await using one = await RedisShared.open(redisUrl ?? '', silentLog);
    await using other = await RedisShared.open(redisUrl ?? '', silentLog);
    const account = `several-${randomUUID()}`;
    await fixture.open(one);
    const { exchange, reply, answer } = await fixture.lead({ account });
    const { pipeline } = fixture;
    await fixture.open(other);
    const waits = fixture.allWait(5);
    const waiting = Promise.all(Array.from({ length: 5 }, () => fixture.ask({ account })));
    await waits;
    const released = fixture.upstreamHolds(5);
    answer.resolve(whole('{}', 500));
    await reply;
    await pipeline.finish(exchange, outcome);
    await released;
    await waiting;
  });
});
