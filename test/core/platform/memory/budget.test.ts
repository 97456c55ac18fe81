import { describe, expect, it } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { footprint, ProcessMemory, type MemoryShare } from '#core/platform/memory/budget.ts';

const MB = 1_000_000;
const small = bounds.smallBody * footprint.request;

/** Shares of this size, each of another owner, until one does not fit. */
function fill(budget: ProcessMemory, bytes: number): MemoryShare[] {
  const shares: MemoryShare[] = [];
  for (;;) {
    const share = budget.createShare(`owner ${shares.length}`);
    if (!share.grow(bytes)) return shares;
    shares.push(share);
  }
}

describe('a memory budget', () => {
  it('refuses large bodies first, and accepts small ones in its reserve', () => {
    const budget = new ProcessMemory(80 * MB);
    fill(budget, 10 * MB);
    expect(budget.reserved).toBe(70 * MB);
    expect(budget.createShare('one more').grow(small + 1)).toBe(false);
    expect(budget.createShare('one more').grow(small)).toBe(true);
    fill(budget, small);
    expect(budget.reserved).toBeLessThanOrEqual(80 * MB);
    expect(budget.createShare('one more').grow(small)).toBe(false);
  });

  it('reserves nothing for what did not fit', () => {
    const budget = new ProcessMemory(80 * MB);
    const share = budget.createShare('a');
    expect(share.grow(60 * MB)).toBe(true);
    expect(share.grow(20 * MB)).toBe(false);
    expect(budget.reserved).toBe(60 * MB);
    expect(share.bytes).toBe(60 * MB);
  });

  it('gives one owner a quarter, except for the first body that needs more', () => {
    const budget = new ProcessMemory(80 * MB);
    const [first, second, third] = [budget.createShare('a'), budget.createShare('a'), budget.createShare('a')];
    expect([first.grow(9 * MB), second.grow(9 * MB), third.grow(1 * MB)]).toEqual([true, true, true]);
    // The three have 19 MB of 20.
    expect(second.grow(5 * MB)).toBe(true);
    expect([first.grow(5 * MB), third.grow(5 * MB), second.grow(5 * MB)]).toEqual([false, false, true]);
    expect(budget.createShare('b').grow(15 * MB)).toBe(true);
    second.release();
    expect(first.grow(5 * MB)).toBe(true);
  });

  it('counts what an exchange holds for the account that it turns out to be of', () => {
    const budget = new ProcessMemory(80 * MB);
    const share = budget.createShare('203.0.113.7');
    share.grow(15 * MB);
    share.owner = 'account';
    expect(budget.createShare('203.0.113.7').grow(15 * MB)).toBe(true);
    const other = budget.createShare('account');
    other.grow(10 * MB);
    expect(share.grow(1 * MB)).toBe(false);
  });

  it('takes the room that caches hold', () => {
    const budget = new ProcessMemory(80 * MB);
    let held = 60 * MB;
    budget.registerCache({
      get heldBytes() {
        return held;
      },
      maxBytes: 60 * MB,
      free: (bytes) => (held = Math.max(0, held - bytes)),
    });
    expect(budget.createShare('a').grow(20 * MB)).toBe(true);
    expect(held).toBe(50 * MB);
    expect(budget.canCache(15 * MB)).toBe(false);
    expect(budget.canCache(5 * MB)).toBe(true);
    expect(budget.createShare('b').grow(50 * MB)).toBe(true);
    expect(held).toBe(0);
  });

  it('holds a large body that is alone to what the process has left too', () => {
    const budget = new ProcessMemory(80 * MB);
    budget.room = 5 * MB;
    const share = budget.createShare('a');
    expect(share.grow(5 * MB)).toBe(true);
    expect(share.grow(1 * MB)).toBe(false);
    expect(budget.createShare('b').grow(small)).toBe(true);
  });

  it('gives nothing that a large body held to the next one before the figures are read again', () => {
    const budget = new ProcessMemory(80 * MB);
    budget.room = 5 * MB;
    const share = budget.createShare('a');
    share.grow(4 * MB);
    share.release();
    expect(budget.createShare('a').grow(2 * MB)).toBe(false);
  });

  it('reads the figures again before it refuses a large body', () => {
    const budget = new ProcessMemory(80 * MB);
    budget.room = 1 * MB;
    budget.measureRoom = () => {
      budget.room = 10 * MB;
      return false;
    };
    expect(budget.createShare('a').grow(5 * MB)).toBe(true);
  });

  it('accepts one large body at a time when there is no room and no garbage', () => {
    const budget = new ProcessMemory(80 * MB);
    budget.room = 0;
    expect(budget.createShare('a').grow(5 * MB)).toBe(false);
    let collections = 1;
    budget.measureRoom = () => collections-- > 0;
    const share = budget.createShare('a');
    expect(share.grow(5 * MB)).toBe(true);
    expect(share.grow(5 * MB)).toBe(true);
    collections = 1;
    expect(budget.createShare('b').grow(5 * MB)).toBe(false);
    share.release();
    collections = 1;
    expect(budget.createShare('b').grow(5 * MB)).toBe(true);
  });

  it('accepts all of a large body that is alone once garbage has been collected for it', () => {
    const budget = new ProcessMemory(80 * MB);
    budget.room = 0;
    let collections = 1;
    budget.measureRoom = () => {
      if (collections > 0) budget.room = 5 * MB;
      return collections-- > 0;
    };
    const share = budget.createShare('a');
    expect(share.grow(5 * MB)).toBe(true);
    expect(share.grow(5 * MB)).toBe(true);
    expect(budget.createShare('b').grow(5 * MB)).toBe(false);
  });

  it('keeps nothing in caches while the process is short of memory', () => {
    const budget = new ProcessMemory(80 * MB);
    budget.level = 'large';
    expect(budget.canCache(1)).toBe(false);
  });

  it('is empty when all exchanges are over, whatever they did', () => {
    for (let seed = 1; seed <= 100; seed++) {
      const budget = new ProcessMemory(20 * MB);
      const shares = Array.from({ length: 10 }, (_, index) => budget.createShare(`owner ${index % 3}`));
      let state = seed;
      const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
      for (let step = 0; step < 300; step++) {
        const share = shares[random(shares.length)] as MemoryShare;
        const bytes = random(3) === 0 ? random(2 * MB) : random(2_000);
        const before = share.bytes;
        const what = random(6);
        if (what < 3) {
          const hasFit = share.grow(bytes);
          expect(share.bytes).toBe(hasFit ? before + bytes : before);
        }
        if (what === 3) share.shrink(Math.min(bytes, share.bytes));
        else if (what === 4) share.add(bytes);
        else share.owner = `owner ${random(5)}`;
        if (random(50) === 0) share.release();
      }
      expect(budget.reserved).toBe(shares.reduce((sum, { bytes }) => sum + bytes, 0));
      for (const share of shares) share.release();
      expect(budget.reserved).toBe(0);
      // Nobody is left over a quarter.
      expect(shares.some((share) => share.grow(1))).toBe(false);
      expect([0, 1, 2, 3, 4].every((index) => budget.createShare(`owner ${index}`).grow(3 * MB))).toBe(true);
    }
  });
});
