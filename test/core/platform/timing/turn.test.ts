import { describe, expect, it } from 'vitest';
import { runToEnd, runInTurns, nextPageTurn, nextTurn } from '#core/platform/timing/turn.ts';

function* counted(steps: number, onStep: (step: number) => void): Generator<undefined, string> {
  for (let step = 1; step <= steps; step++) {
    onStep(step);
    yield;
  }
  return 'done';
}

describe('turns of the event loop', () => {
  it('come one after the other, and others between them', async () => {
    const seen: string[] = [];
    const waiting = ['a', 'b', 'c'].map((name) => nextTurn().then(() => seen.push(name)));
    const other = new Promise<void>((resolve) => {
      let left = 3;
      const tick = () => {
        seen.push('-');
        if (--left === 0) resolve();
        else setImmediate(tick);
      };
      setImmediate(tick);
    });
    await Promise.all([...waiting, other]);
    expect(seen).toEqual(['a', '-', 'b', '-', 'c', '-']);
  });

  it('of pages take none from requests', async () => {
    const seen: string[] = [];
    const pages = ['x', 'y', 'z'].map((name) => nextPageTurn().then(() => seen.push(name)));
    await nextTurn().then(() => seen.push('a'));
    expect(seen.indexOf('a')).toBeLessThan(2);
    await Promise.all(pages);
    expect(seen.filter((name) => name !== 'a')).toEqual(['x', 'y', 'z']);
  });

  it('are one for each step', async () => {
    const seen: (number | string)[] = [];
    const done = runInTurns(counted(3, (step) => seen.push(step)));
    seen.push('begun');
    expect(await done).toBe('done');
    expect(seen).toEqual(['begun', 1, 2, 3]);
  });

  it('are not needed for steps that are taken at once', () => {
    const seen: number[] = [];
    expect(runToEnd(counted(3, (step) => seen.push(step)))).toBe('done');
    expect(seen).toEqual([1, 2, 3]);
  });

  it('pass on what a step throws', async () => {
    const broken = runInTurns(
      counted(3, () => {
        throw new Error('broken');
      }),
    );
    await expect(broken).rejects.toThrow('broken');
  });
});
