import { beforeEach, describe, expect, it } from 'vitest';
import { KeyPool } from '../../../plugins/upstream/key-pool.ts';
import { upstreamAt } from './upstream-fixture.ts';

describe('a pool of keys', () => {
  let pool: KeyPool;
  beforeEach(() => {
    pool = new KeyPool(upstreamAt('http://x', { apiKeys: ['a', 'b', 'c'] }));
  });
  const pick = (times: number, now = 0) => Array.from({ length: times }, () => pool.pick(now)).join('');

  it('is used in turn', () => {
    expect(pick(7)).toBe('abcabca');
  });

  it('leaves out a key that rests', () => {
    pool.rest('b', 100);
    expect(pick(4)).toBe('acac');
  });

  it('takes a key back when its rest is over', () => {
    pool.rest('b', 100);
    expect(pick(3, 100)).toBe('abc');
  });

  it('gives the key that is rested first when all rest', () => {
    pool.rest('a', 300);
    pool.rest('b', 100);
    pool.rest('c', 200);
    expect(pick(2)).toBe('bb');
  });

  it('is ready while one key is', () => {
    pool.rest('a', 100);
    pool.rest('b', 100);
    expect(pool.isReady(0)).toBe(true);
  });

  it('is not ready when all rest, and ready again after the shortest rest', () => {
    for (const key of 'abc') pool.rest(key, 100);
    expect([pool.isReady(99), pool.isReady(100)]).toEqual([false, true]);
  });

  it('never shortens a rest', () => {
    pool.rest('a', 100);
    pool.rest('a', 50);
    expect(pick(3, 60)).toBe('bcb');
  });

  it('does not mind a key that it does not have', () => {
    pool.rest('z', 100);
    expect(pick(3)).toBe('abc');
  });

  it('without keys gives an empty one', () => {
    expect(new KeyPool(upstreamAt('http://x')).pick(0)).toBe('');
  });
});
