import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { ClientGone } from '#core/errors/table.ts';
import { cacheStatus } from '#core/facts.ts';
import { RedisShared } from '#core/shared/redis.ts';
import { SharedUnavailable } from '#core/shared/shared.ts';
import { silentLog } from '../../support/database.ts';
import { redisUrl } from '../../support/redis.ts';
import { CacheStand, exchangeOf, outcome, stream, whole } from './stand.ts';

const stand = CacheStand.use();

describe('identical requests at the same time', () => {
  it('cause one call of the upstream', async () => {
    const replies = await Promise.all(Array.from({ length: 100 }, () => stand.ask()));
    expect(stand.upstream).toHaveBeenCalledOnce();
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(['{"n":1}']));
    expect(replies.filter(({ cache }) => cache === 'miss')).toHaveLength(1);
    expect(replies.filter(({ cache }) => cache === 'hit')).toHaveLength(99);
  });

  it('cause one call when the answer is streamed', async () => {
    stand.upstream.mockImplementation(() => stream(Readable.from([Buffer.from('data: 1\n\n')], { objectMode: false })));
    const replies = await Promise.all(Array.from({ length: 100 }, () => stand.ask()));
    expect(stand.upstream).toHaveBeenCalledOnce();
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(['data: 1\n\n']));
  });

  it('cause a call each for each account', async () => {
    await Promise.all(['a', 'b', 'a', 'b'].map((account) => stand.ask({ account })));
    expect(stand.upstream).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['fails', whole('{}', 500)],
    ['is too large to be kept', whole('x'.repeat(1_001))],
  ])('all go on by themselves when the first answer %s', async (_name, first) => {
    const { exchange, reply, answer } = await stand.lead();
    const waits = stand.allWait(5);
    const waiting = Promise.all(Array.from({ length: 5 }, () => stand.ask()));
    await waits;
    const released = stand.upstreamHolds(5);
    answer.resolve(first);
    await reply;
    await stand.pipeline.finish(exchange, outcome);
    await released;
    expect((await waiting).map((own) => own.exchange.find(cacheStatus))).toEqual(Array(5).fill('miss'));
  });

  it('all go on by themselves when the first answer breaks off', async () => {
    const { exchange, reply, answer } = await stand.lead();
    const waits = stand.allWait(5);
    const waiting = Promise.all(Array.from({ length: 5 }, () => stand.ask()));
    await waits;
    const released = stand.upstreamHolds(5);
    const source = new Readable({ read: () => undefined });
    answer.resolve(stream(source));
    const { body } = await reply;
    source.push('data: half');
    source.destroy(new Error('the upstream is gone'));
    await expect(buffer(body as Readable)).rejects.toThrow('the upstream is gone');
    await stand.pipeline.finish(exchange, { ...outcome, kind: 'failed' });
    await released;
    await waiting;
  });

  it('all go on by themselves when the first answer cannot be stored', async () => {
    const { exchange, reply, answer } = await stand.lead();
    const waits = stand.allWait(5);
    const waiting = Promise.all(Array.from({ length: 5 }, () => stand.ask()));
    await waits;
    const released = stand.upstreamHolds(5);
    vi.spyOn(stand.shared.cache, 'set').mockRejectedValue(new SharedUnavailable('the shared store did not answer'));
    answer.resolve(whole('{}'));
    await reply;
    await stand.pipeline.finish(exchange, outcome);
    await released;
    await waiting;
  });

  it('go on with the next when the client of the first one leaves', async () => {
    const { exchange, reply, answer } = await stand.lead();
    const waits = stand.allWait(5);
    const waiting = Promise.all(Array.from({ length: 5 }, () => stand.ask()));
    await waits;
    exchange.abort(new ClientGone());
    answer.reject(new ClientGone());
    await reply;
    await stand.pipeline.finish(exchange, { ...outcome, kind: 'aborted' });
    const replies = await waiting;
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(['{"n":1}']));
    expect(replies.filter(({ cache }) => cache === 'miss')).toHaveLength(1);
  });

  it('all go on by themselves as soon as the first answer is too large to be kept', async () => {
    const { exchange, reply, answer } = await stand.lead();
    const waits = stand.allWait(5);
    const waiting = Promise.all(Array.from({ length: 5 }, () => stand.ask()));
    await waits;
    const released = stand.upstreamHolds(5);
    const source = new Readable({ read: () => undefined });
    answer.resolve(stream(source));
    const { body } = await reply;
    (body as Readable).resume();
    source.push('x'.repeat(1_001));
    await released;
    await waiting;
    source.push(null);
    await once(body as Readable, 'end');
    await stand.pipeline.finish(exchange, outcome);
  });

  it('go on with the next when the instance of the first one dies', async () => {
    const { reply, answer, exchange } = await stand.lead();
    const waits = stand.someoneWaits();
    const waiting = stand.ask();
    await waits;
    stand.clock += 15_000;
    expect(await waiting).toMatchObject({ cache: 'miss', text: '{"n":1}' });
    answer.resolve(whole('{}'));
    await reply;
    await stand.pipeline.finish(exchange, outcome);
  });

  it('wait for a first one that lives', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const extend = vi.spyOn(stand.shared.cache, 'extend');
    const { exchange, reply, answer } = await stand.lead();
    for (let count = 1; count <= 4; count++) {
      stand.clock += 5_000;
      vi.advanceTimersByTime(5_000);
      expect(extend).toHaveBeenCalledTimes(count);
    }
    const waits = stand.someoneWaits();
    const waiting = stand.ask();
    await waits;
    answer.resolve(whole('{"slow":true}'));
    await reply;
    await stand.pipeline.finish(exchange, outcome);
    expect(await waiting).toMatchObject({ cache: 'hit', text: '{"slow":true}' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are not kept waiting by one whose client left before it had the lead', async () => {
    const claim = stand.shared.cache.claim.bind(stand.shared.cache);
    const late = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    vi.spyOn(stand.shared.cache, 'claim').mockImplementationOnce(async (...parameters) => {
      asked.resolve();
      await late.promise;
      return claim(...parameters);
    });
    const exchange = exchangeOf();
    stand.pipeline.begin(exchange);
    const given = stand.pipeline.answer(exchange);
    await asked.promise;
    exchange.abort(new ClientGone());
    await stand.pipeline.finish(exchange, { ...outcome, kind: 'aborted' });
    late.resolve();
    await given;
    const poll = vi.spyOn(stand.shared.events, 'subscribe');
    expect(await stand.ask()).toMatchObject({ cache: 'miss', text: '{"n":1}' });
    expect(poll).not.toHaveBeenCalled();
  });

  it('wait no longer than their client does', async () => {
    const { exchange, reply, answer } = await stand.lead();
    const waits = stand.someoneWaits();
    const waiting = exchangeOf();
    stand.pipeline.begin(waiting);
    const given = stand.pipeline.answer(waiting);
    await waits;
    waiting.abort(new ClientGone());
    await given;
    await stand.pipeline.finish(waiting, { ...outcome, kind: 'aborted' });
    expect(stand.upstream).toHaveBeenCalledOnce();
    answer.resolve(whole('{"late":true}'));
    await reply;
    await stand.pipeline.finish(exchange, outcome);
    expect(await stand.ask()).toMatchObject({ cache: 'hit', text: '{"late":true}' });
  });

  it('find the answer though its signal was lost', async () => {
    const { exchange, reply, answer } = await stand.lead();
    const waits = stand.someoneWaits();
    const waiting = stand.ask();
    await waits;
    vi.spyOn(stand.shared.events, 'publish').mockResolvedValue();
    answer.resolve(whole('{"n":9}'));
    await reply;
    await stand.pipeline.finish(exchange, outcome);
    expect(await waiting).toMatchObject({ cache: 'hit', text: '{"n":9}' });
  });
});

describe.skipIf(redisUrl === undefined)('identical requests to several instances', () => {
  it('cause one call of the upstream', async () => {
    await using one = await RedisShared.open(redisUrl ?? '', silentLog);
    await using other = await RedisShared.open(redisUrl ?? '', silentLog);
    const account = `several-${randomUUID()}`;
    const calls: ReturnType<CacheStand['ask']>[] = [];
    for (const instance of [one, other]) {
      await stand.open(instance);
      for (let count = 0; count < 50; count++) calls.push(stand.ask({ account, seconds: '2' }));
    }
    const replies = await Promise.all(calls);
    expect(stand.upstream).toHaveBeenCalledOnce();
    expect(replies.filter(({ cache }) => cache === 'miss')).toHaveLength(1);
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(['{"n":1}']));
  });

  it('all go on by themselves when the first answer fails', async () => {
    await using one = await RedisShared.open(redisUrl ?? '', silentLog);
    await using other = await RedisShared.open(redisUrl ?? '', silentLog);
    const account = `several-${randomUUID()}`;
    await stand.open(one);
    const { exchange, reply, answer } = await stand.lead({ account });
    const { pipeline } = stand;
    await stand.open(other);
    const waits = stand.allWait(5);
    const waiting = Promise.all(Array.from({ length: 5 }, () => stand.ask({ account })));
    await waits;
    const released = stand.upstreamHolds(5);
    answer.resolve(whole('{}', 500));
    await reply;
    await pipeline.finish(exchange, outcome);
    await released;
    await waiting;
  });
});
