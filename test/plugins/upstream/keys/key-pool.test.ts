import { beforeEach, describe, expect, it } from 'vitest';
import { KeyPool } from '../../../../plugins/upstream/keys/key-pool.ts';
import { upstreamAt } from '../fixture.ts';

describe('a pool of keys', () => {
  let pool: KeyPool;
  beforeEach(() => {
    pool = new KeyPool(upstreamAt('http://x', { apiKeys: ['a', 'b', 'c'] }));
  });
  const pick = (times: number, now = 0) => Array.from({ length: times }, () => pool.pick(now, 'm')).join('');

  it('is used in turn', () => {
    expect(pick(7)).toBe('abcabca');
  });

  it('leaves out a key that rests', () => {
    pool.rest('b', 'm', 1, 100);
    expect(pick(4)).toBe('acac');
  });

  it('takes a key back when its rest is over, after those that were never throttled', () => {
    pool.rest('a', 'm', 1, 100);
    expect(pick(3, 100)).toBe('bcb');
    pool.rest('b', 'm', 100, 300);
    pool.rest('c', 'm', 100, 300);
    expect(pick(2, 100)).toBe('aa');
  });

  it('takes the key first that was throttled longest ago', () => {
    for (const [at, key] of ['c', 'a', 'b'].entries()) pool.rest(key, 'm', at + 1, 100);
    expect(pick(2, 100)).toBe('cc');
  });

  it('forgets after an hour that a key was throttled', () => {
    pool.rest('b', 'm', 1, 100);
    expect(pick(3, 3_600_001)).toBe('abc');
  });

  it('lets a key rest for one model when it was throttled, for all when it was refused', () => {
    pool.rest('a', 'm', 1, 100);
    pool.refuse('b', 1);
    expect([pool.pick(2, 'other'), pool.pick(2, 'other'), pool.pick(2, 'm')]).toEqual(['a', 'c', 'c']);
    expect([pool.resting(2, 'm'), pool.resting(2, 'other'), pool.resting(2)]).toEqual([2, 1, 2]);
  });

  it('tells the shortest wait of the keys that were throttled, when none is ready', () => {
    pool.refuse('a', 1);
    pool.rest('b', 'm', 1, 300);
    expect(pool.throttledFor(1, 'm')).toBeUndefined();
    pool.rest('c', 'm', 1, 200);
    expect(pool.throttledFor(1, 'm')).toBe(199);
  });

  it('tells no wait when all were refused', () => {
    for (const key of 'abc') pool.refuse(key, 1);
    expect(pool.throttledFor(2, 'm')).toBeUndefined();
  });

  it('does not make a rest longer for refusals of requests that were under way', () => {
    expect([pool.refuse('a', 1), pool.refuse('a', 2), pool.refuse('a', 60_001)]).toEqual([60, 0, 120]);
  });

  it('knows what one before it has learned of the same keys, and forgets the others', () => {
    const known = new Map();
    const before = new KeyPool(upstreamAt('http://x', { apiKeys: ['a', 'b'] }), known);
    before.rest('a', 'm', 1, 100);
    const after = new KeyPool(upstreamAt('http://x', { apiKeys: ['c', 'a'] }), known);
    expect([after.pick(2, 'm'), after.pick(2, 'm'), [...known.keys()]]).toEqual(['c', 'c', ['c', 'a']]);
  });

  it('gives the key that is rested first when all rest', () => {
    pool.rest('a', 'm', 1, 300);
    pool.rest('b', 'm', 1, 100);
    pool.rest('c', 'm', 1, 200);
    expect(pick(2)).toBe('bb');
  });

  it('is ready while one key is', () => {
    pool.rest('a', 'm', 1, 100);
    pool.rest('b', 'm', 1, 100);
    expect(pool.isReady(0, 'm')).toBe(true);
  });

  it('is not ready when all rest, and ready again after the shortest rest', () => {
    for (const key of 'abc') pool.rest(key, 'm', 1, 100);
    expect([pool.isReady(99, 'm'), pool.isReady(100, 'm')]).toEqual([false, true]);
  });

  it('never shortens a rest', () => {
    pool.rest('a', 'm', 1, 100);
    pool.rest('a', 'm', 1, 50);
    expect(pick(3, 60)).toBe('bcb');
  });

  it('does not mind a key that it does not have', () => {
    pool.rest('z', 'm', 1, 100);
    expect(pick(3)).toBe('abc');
  });

  it('without keys gives an empty one', () => {
    expect(new KeyPool(upstreamAt('http://x')).pick(0, 'm')).toBe('');
  });
});
