import { beforeEach, describe, expect, it } from 'vitest';
import { closureRules } from '#core/gateway/model-call/closure-rules.ts';
import { KeyClosures } from '#core/gateway/model-call/key-closures.ts';
import { KeyPool } from '../../../../plugins/upstream/routing/key-pool.ts';
import { upstreamAt } from '../fixture.ts';

describe('a pool of keys', () => {
  let pool: KeyPool;
  beforeEach(() => {
    pool = new KeyPool(upstreamAt('http://x', { apiKeys: ['a', 'b', 'c'] }));
  });
  const pick = (times: number, now = 0) => Array.from({ length: times }, () => pool.pickKey(now, 'm')).join('');

  it('a pool of keys is used in turn', () => {
    expect(pick(7)).toBe('abcabca');
  });

  it('a pool of keys skips a key that cools down', () => {
    pool.recordThrottling('b', 'm', 1, 100);
    expect(pick(4)).toBe('acac');
  });

  it('a pool of keys uses a key again when its cooldown is over, after those that were never throttled', () => {
    pool.recordThrottling('a', 'm', 1, 100);
    expect(pick(3, 100)).toBe('bcb');
    pool.recordThrottling('b', 'm', 100, 300);
    pool.recordThrottling('c', 'm', 100, 300);
    expect(pick(2, 100)).toBe('aa');
  });

  it('a pool of keys takes the key first that was throttled longest ago', () => {
    for (const [at, key] of ['c', 'a', 'b'].entries()) pool.recordThrottling(key, 'm', at + 1, 100);
    expect(pick(2, 100)).toBe('cc');
  });

  it('a pool of keys forgets after an hour that a key was throttled', () => {
    pool.recordThrottling('b', 'm', 1, 100);
    expect(pick(3, 3_600_001)).toBe('abc');
  });

  it('a pool of keys cools a key down for one model when it was throttled, for all when it was refused', () => {
    pool.recordThrottling('a', 'm', 1, 100);
    pool.recordRejection('b', 1);
    expect([pool.pickKey(2, 'other'), pool.pickKey(2, 'other'), pool.pickKey(2, 'm')]).toEqual(['a', 'c', 'c']);
    expect([pool.countCoolingDown(2, 'm'), pool.countCoolingDown(2, 'other'), pool.countCoolingDown(2)]).toEqual([
      2, 1, 2,
    ]);
  });

  it('a pool of keys reports the shortest wait of the throttled keys when none is ready', () => {
    pool.recordRejection('a', 1);
    pool.recordThrottling('b', 'm', 1, 300);
    expect(pool.computeThrottledMs(1, 'm')).toBeUndefined();
    pool.recordThrottling('c', 'm', 1, 200);
    expect(pool.computeThrottledMs(1, 'm')).toBe(199);
  });

  it('a pool of keys reports no wait when all keys were refused', () => {
    for (const key of 'abc') pool.recordRejection(key, 1);
    expect(pool.computeThrottledMs(2, 'm')).toBeUndefined();
  });

  it('a pool of keys does not extend a cooldown for refusals of requests that were in flight', () => {
    expect([pool.recordRejection('a', 1), pool.recordRejection('a', 2), pool.recordRejection('a', 60_001)]).toEqual([
      60, 0, 120,
    ]);
  });

  it('a pool of keys keeps the cooldowns of its keys over a reload, and forgets other keys', () => {
    const known = new Map();
    const before = new KeyPool(upstreamAt('http://x', { apiKeys: ['a', 'b'] }), known);
    before.recordThrottling('a', 'm', 1, 100);
    const after = new KeyPool(upstreamAt('http://x', { apiKeys: ['c', 'a'] }), known);
    expect([after.pickKey(2, 'm'), after.pickKey(2, 'm'), [...known.keys()]]).toEqual(['c', 'c', ['c', 'a']]);
  });

  it('a pool of keys returns the key whose cooldown ends first when all cool down', () => {
    pool.recordThrottling('a', 'm', 1, 300);
    pool.recordThrottling('b', 'm', 1, 100);
    pool.recordThrottling('c', 'm', 1, 200);
    expect(pick(2)).toBe('bb');
  });

  it('a pool of keys is ready while one key is', () => {
    pool.recordThrottling('a', 'm', 1, 100);
    pool.recordThrottling('b', 'm', 1, 100);
    expect(pool.isReady(0, 'm')).toBe(true);
  });

  it('a pool of keys is not ready while all cool down, and ready again after the shortest cooldown', () => {
    for (const key of 'abc') pool.recordThrottling(key, 'm', 1, 100);
    expect([pool.isReady(99, 'm'), pool.isReady(100, 'm')]).toEqual([false, true]);
  });

  it('a pool of keys never shortens a cooldown', () => {
    pool.recordThrottling('a', 'm', 1, 100);
    pool.recordThrottling('a', 'm', 1, 50);
    expect([pool.countCoolingDown(60, 'm'), pool.countCoolingDown(100, 'm')]).toEqual([1, 0]);
  });

  it('the cooldown of a key that was refused and throttled lasts as long as the longer one', () => {
    const only = new KeyPool(upstreamAt('http://x', { apiKeys: ['a'] }));
    only.recordRejection('a', 0);
    only.recordThrottling('a', 'm', 0, 1_000);
    expect([only.isReady(59_999, 'm'), only.isReady(60_000, 'm')]).toEqual([false, true]);
    only.recordThrottling('a', 'm', 60_000, 200_000);
    expect([only.isReady(199_999, 'm'), only.isReady(200_000, 'm')]).toEqual([false, true]);
  });

  it('a pool of keys ignores a key that it does not have', () => {
    pool.recordThrottling('z', 'm', 1, 100);
    expect(pick(3)).toBe('abc');
  });

  it('a pool of keys returns an empty key when the upstream has none', () => {
    expect(new KeyPool(upstreamAt('http://x')).pickKey(0, 'm')).toBe('');
  });
});

describe('a key that its vendor has closed', () => {
  const day = 86_400_000;
  const upstream = upstreamAt('http://x', { apiKeys: ['a', 'b', 'c'] });
  const [closing] = closureRules;
  const report = { upstream: 'up', rule: closing!, message: '401 deactivated', request: 'r' };
  let now: number;
  let closures: KeyClosures;
  let kept: string[];
  let pool: KeyPool;
  beforeEach(() => {
    now = 100_000;
    kept = [];
    closures = new KeyClosures({ monotonic: () => now });
    closures.store = {
      storeClosed: () => {
        kept.push('closed');
        return day;
      },
      storeOpened: () => void kept.push('opened'),
    };
    pool = new KeyPool(upstream, undefined, closures);
  });
  const pick = (times: number) => Array.from({ length: times }, () => pool.pickKey(now, 'm')).join('');

  it('is left alone for a day by all models, and said once', () => {
    expect([pool.recordClosure('b', report), pool.recordClosure('b', report)]).toEqual([true, true]);
    expect(kept).toEqual(['closed']);
    now += day - 1;
    expect(pick(4)).toBe('acac');
    expect([pool.countClosed(now), pool.countCoolingDown(now, 'other')]).toEqual([1, 1]);
    now += 1;
    expect(pick(3)).toBe('bac');
  });

  it('is the same key in another pool of its host, and after a reload', () => {
    pool.recordClosure('b', report);
    const other = new KeyPool(upstreamAt('http://x/anthropic', { apiKeys: ['b', 'd'] }), undefined, closures);
    const elsewhere = new KeyPool(upstreamAt('http://y', { apiKeys: ['b'] }), undefined, closures);
    expect([other.pickKey(now, 'm'), other.countClosed(now), elsewhere.countClosed(now)]).toEqual(['d', 1, 0]);
  });

  it('is left alone by trials, which close and open none', () => {
    pool.recordClosure('b', report);
    const trial = pool.copyForTrial(upstream);
    const tried = Array.from({ length: 4 }, () => trial.pickKey(now, 'm'));
    expect(tried.join('')).toBe('acac');
    expect(trial.recordClosure('a', report)).toBe(false);
    trial.recordRejection('a', now);
    now += day;
    trial.recordAcceptance('b');
    expect([kept, pool.countRejected(now), pool.pickKey(now, 'm')]).toEqual([['closed'], 0, 'a']);
  });

  it('closes no other upstream without a key at the same host', () => {
    const [one, two] = ['one', 'two'].map(
      (name) => new KeyPool(upstreamAt('http://cloud', { name }), undefined, closures),
    );
    one?.recordClosure('', report);
    expect([one?.countClosed(now), two?.countClosed(now)]).toEqual([1, 0]);
  });

  it('opens when the vendor serves a request with it, but not for answers that were on their way', () => {
    pool.recordClosure('b', report);
    pool.recordAcceptance('b');
    expect(kept).toEqual(['closed']);
    now += day;
    pool.recordAcceptance('b');
    expect([kept, pool.countClosed(now)]).toEqual([['closed', 'opened'], 0]);
    pool.recordAcceptance('b');
    expect(kept).toEqual(['closed', 'opened']);
  });

  it('is asked by the next request where it is the last key, closed or refused', () => {
    for (const key of 'abc') pool.recordClosure(key, report);
    expect([pool.isReady(now, 'm'), pool.computeThrottledMs(now, 'm')]).toEqual([false, undefined]);
    expect('abc').toContain(pool.pickKey(now, 'm'));
    const alone = new KeyPool(upstreamAt('http://z', { apiKeys: ['k'] }), undefined, closures);
    for (let times = 0; times < 9; times++, now += 3_600_000) {
      alone.recordRejection('k', now);
      expect([alone.computeThrottledMs(now, 'm'), alone.pickKey(now, 'm')]).toEqual([undefined, 'k']);
    }
  });

  it('does not count among throttled keys, whose wait is known', () => {
    pool.recordClosure('a', report);
    pool.recordRejection('b', now);
    pool.recordThrottling('c', 'm', now, now + 200);
    expect([pool.computeThrottledMs(now, 'm'), pool.pickKey(now, 'm')]).toEqual([200, 'c']);
  });

  it('is tried again after a reset, and stays on record until then', () => {
    pool.recordClosure('a', report);
    pool.reset();
    expect(pick(3)).toBe('abc');
    now += 60_001;
    pool.recordAcceptance('a');
    expect(kept).toEqual(['closed', 'opened']);
  });

  it('cools down like any other if closures are not stored', () => {
    closures.store = undefined;
    expect([pool.recordClosure('a', report), pool.countClosed(now)]).toEqual([false, 0]);
    expect(new KeyPool(upstream).recordClosure('a', report)).toBe(false);
  });
});
