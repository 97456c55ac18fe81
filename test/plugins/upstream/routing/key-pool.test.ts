import { beforeEach, describe, expect, it } from 'vitest';
import { KeyClosures } from '#core/gateway/model-call/key-closures.ts';
import { closureRules } from '#core/gateway/model-call/closing-words.ts';
import { KeyPool } from '../../../../plugins/upstream/routing/key-pool.ts';
import { upstreamAt } from '../fixture.ts';

describe('a pool of keys', () => {
  let pool: KeyPool;
  beforeEach(() => {
    pool = new KeyPool(upstreamAt('http://x', { apiKeys: ['a', 'b', 'c'] }));
  });
  const pick = (times: number, now = 0) => Array.from({ length: times }, () => pool.pick(now, 'm')).join('');

  it('a pool of keys is used in turn', () => {
    expect(pick(7)).toBe('abcabca');
  });

  it('a pool of keys skips a key that cools down', () => {
    pool.coolDown('b', 'm', 1, 100);
    expect(pick(4)).toBe('acac');
  });

  it('a pool of keys uses a key again when its cooldown is over, after those that were never throttled', () => {
    pool.coolDown('a', 'm', 1, 100);
    expect(pick(3, 100)).toBe('bcb');
    pool.coolDown('b', 'm', 100, 300);
    pool.coolDown('c', 'm', 100, 300);
    expect(pick(2, 100)).toBe('aa');
  });

  it('a pool of keys takes the key first that was throttled longest ago', () => {
    for (const [at, key] of ['c', 'a', 'b'].entries()) pool.coolDown(key, 'm', at + 1, 100);
    expect(pick(2, 100)).toBe('cc');
  });

  it('a pool of keys forgets after an hour that a key was throttled', () => {
    pool.coolDown('b', 'm', 1, 100);
    expect(pick(3, 3_600_001)).toBe('abc');
  });

  it('a pool of keys cools a key down for one model when it was throttled, for all when it was refused', () => {
    pool.coolDown('a', 'm', 1, 100);
    pool.refuse('b', 1);
    expect([pool.pick(2, 'other'), pool.pick(2, 'other'), pool.pick(2, 'm')]).toEqual(['a', 'c', 'c']);
    expect([pool.coolingDown(2, 'm'), pool.coolingDown(2, 'other'), pool.coolingDown(2)]).toEqual([2, 1, 2]);
  });

  it('a pool of keys reports the shortest wait of the throttled keys when none is ready', () => {
    pool.refuse('a', 1);
    pool.coolDown('b', 'm', 1, 300);
    expect(pool.throttledFor(1, 'm')).toBeUndefined();
    pool.coolDown('c', 'm', 1, 200);
    expect(pool.throttledFor(1, 'm')).toBe(199);
  });

  it('a pool of keys reports no wait when all keys were refused', () => {
    for (const key of 'abc') pool.refuse(key, 1);
    expect(pool.throttledFor(2, 'm')).toBeUndefined();
  });

  it('a pool of keys does not extend a cooldown for refusals of requests that were in flight', () => {
    expect([pool.refuse('a', 1), pool.refuse('a', 2), pool.refuse('a', 60_001)]).toEqual([60, 0, 120]);
  });

  it('a pool of keys keeps the cooldowns of its keys over a reload, and forgets other keys', () => {
    const known = new Map();
    const before = new KeyPool(upstreamAt('http://x', { apiKeys: ['a', 'b'] }), known);
    before.coolDown('a', 'm', 1, 100);
    const after = new KeyPool(upstreamAt('http://x', { apiKeys: ['c', 'a'] }), known);
    expect([after.pick(2, 'm'), after.pick(2, 'm'), [...known.keys()]]).toEqual(['c', 'c', ['c', 'a']]);
  });

  it('a pool of keys returns the key whose cooldown ends first when all cool down', () => {
    pool.coolDown('a', 'm', 1, 300);
    pool.coolDown('b', 'm', 1, 100);
    pool.coolDown('c', 'm', 1, 200);
    expect(pick(2)).toBe('bb');
  });

  it('a pool of keys is ready while one key is', () => {
    pool.coolDown('a', 'm', 1, 100);
    pool.coolDown('b', 'm', 1, 100);
    expect(pool.isReady(0, 'm')).toBe(true);
  });

  it('a pool of keys is not ready while all cool down, and ready again after the shortest cooldown', () => {
    for (const key of 'abc') pool.coolDown(key, 'm', 1, 100);
    expect([pool.isReady(99, 'm'), pool.isReady(100, 'm')]).toEqual([false, true]);
  });

  it('a pool of keys never shortens a cooldown', () => {
    pool.coolDown('a', 'm', 1, 100);
    pool.coolDown('a', 'm', 1, 50);
    expect([pool.coolingDown(60, 'm'), pool.coolingDown(100, 'm')]).toEqual([1, 0]);
  });

  it('the cooldown of a key that was refused and throttled lasts as long as the longer one', () => {
    const only = new KeyPool(upstreamAt('http://x', { apiKeys: ['a'] }));
    only.refuse('a', 0);
    only.coolDown('a', 'm', 0, 1_000);
    expect([only.isReady(59_999, 'm'), only.isReady(60_000, 'm')]).toEqual([false, true]);
    only.coolDown('a', 'm', 60_000, 200_000);
    expect([only.isReady(199_999, 'm'), only.isReady(200_000, 'm')]).toEqual([false, true]);
  });

  it('a pool of keys ignores a key that it does not have', () => {
    pool.coolDown('z', 'm', 1, 100);
    expect(pick(3)).toBe('abc');
  });

  it('a pool of keys returns an empty key when the upstream has none', () => {
    expect(new KeyPool(upstreamAt('http://x')).pick(0, 'm')).toBe('');
  });
});

describe('a key that its vendor has closed', () => {
  const day = 86_400_000;
  const upstream = upstreamAt('http://x', { apiKeys: ['a', 'b', 'c'] });
  const [closing] = closureRules;
  const report = { upstream: 'up', closing: closing!, words: '401 deactivated', request: 'r' };
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
  const pick = (times: number) => Array.from({ length: times }, () => pool.pick(now, 'm')).join('');

  it('is left alone for a day by all models, and said once', () => {
    expect([pool.close('b', report), pool.close('b', report)]).toEqual([true, true]);
    expect(kept).toEqual(['closed']);
    now += day - 1;
    expect(pick(4)).toBe('acac');
    expect([pool.countClosed(now), pool.coolingDown(now, 'other')]).toEqual([1, 1]);
    now += 1;
    expect(pick(3)).toBe('bac');
  });

  it('is the same key in another pool of its host, and after a reload', () => {
    pool.close('b', report);
    const other = new KeyPool(upstreamAt('http://x/anthropic', { apiKeys: ['b', 'd'] }), undefined, closures);
    const elsewhere = new KeyPool(upstreamAt('http://y', { apiKeys: ['b'] }), undefined, closures);
    expect([other.pick(now, 'm'), other.countClosed(now), elsewhere.countClosed(now)]).toEqual(['d', 1, 0]);
  });

  it('is left alone by trials, which close and open none', () => {
    pool.close('b', report);
    const trial = pool.forTrial(upstream);
    const tried = Array.from({ length: 4 }, () => trial.pick(now, 'm'));
    expect(tried.join('')).toBe('acac');
    expect(trial.close('a', report)).toBe(false);
    trial.refuse('a', now);
    now += day;
    trial.accept('b');
    expect([kept, pool.countRefused(now), pool.pick(now, 'm')]).toEqual([['closed'], 0, 'a']);
  });

  it('closes no other upstream without a key at the same host', () => {
    const [one, two] = ['one', 'two'].map(
      (name) => new KeyPool(upstreamAt('http://cloud', { name }), undefined, closures),
    );
    one?.close('', report);
    expect([one?.countClosed(now), two?.countClosed(now)]).toEqual([1, 0]);
  });

  it('opens when the vendor serves a request with it, but not for answers that were on their way', () => {
    pool.close('b', report);
    pool.accept('b');
    expect(kept).toEqual(['closed']);
    now += day;
    pool.accept('b');
    expect([kept, pool.countClosed(now)]).toEqual([['closed', 'opened'], 0]);
    pool.accept('b');
    expect(kept).toEqual(['closed', 'opened']);
  });

  it('is asked by the next request where it is the last key, closed or refused', () => {
    for (const key of 'abc') pool.close(key, report);
    expect([pool.isReady(now, 'm'), pool.throttledFor(now, 'm')]).toEqual([false, undefined]);
    expect('abc').toContain(pool.pick(now, 'm'));
    const alone = new KeyPool(upstreamAt('http://z', { apiKeys: ['k'] }), undefined, closures);
    for (let times = 0; times < 9; times++, now += 3_600_000) {
      alone.refuse('k', now);
      expect([alone.throttledFor(now, 'm'), alone.pick(now, 'm')]).toEqual([undefined, 'k']);
    }
  });

  it('does not count among throttled keys, whose wait is known', () => {
    pool.close('a', report);
    pool.refuse('b', now);
    pool.coolDown('c', 'm', now, now + 200);
    expect([pool.throttledFor(now, 'm'), pool.pick(now, 'm')]).toEqual([200, 'c']);
  });

  it('is tried again after a reset, and stays on record until then', () => {
    pool.close('a', report);
    pool.reset();
    expect(pick(3)).toBe('abc');
    now += 60_001;
    pool.accept('a');
    expect(kept).toEqual(['closed', 'opened']);
  });

  it('cools down like any other where nobody remembers closures', () => {
    closures.store = undefined;
    expect([pool.close('a', report), pool.countClosed(now)]).toEqual([false, 0]);
    expect(new KeyPool(upstream).close('a', report)).toBe(false);
  });
});
