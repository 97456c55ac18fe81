import { describe, expect, it } from 'vitest';
import { axisBar, countTicks, dayBars, latencyBar, planTicks, sparkPath, ticks } from '#core/web/pages/geometry.ts';

const day = 86_400_000;
/** Rectangles in a path. */
const count = (path: string) => path.split('M').length - 1;

describe('the ticks of a pass', () => {
  it.each([
    [1, 24],
    [3, 36],
    [7, 28],
    [14, 28],
    [30, 30],
    [90, 30],
    [365, 30],
  ])('of %i days are %i', (days, expected) => {
    expect(countTicks(days)).toBe(expected);
    const { used, left } = ticks(days, 0, days * day, 0);
    expect([count(used), count(left)]).toEqual([0, expected]);
  });

  it('split the current one', () => {
    const { used, left, width } = ticks(1, 0, day, day / 48);
    expect([used, left.slice(0, 16), width]).toEqual(['M0 8h7v12h-7z', 'M7 0h7v28h-7zM20', 23 * 20 + 14]);
  });

  it.each([
    ['before it starts', -1, 0],
    ['after its end', 8 * day, 28],
  ])('are drawn %s', (_when, now, used) => {
    expect(count(ticks(7, 0, 7 * day, now).used)).toBe(used);
  });

  it('of no time at all are used', () => {
    expect(count(ticks(1, 5, 5, 5).left)).toBe(0);
  });
});

it('plans have a tick a day, at most 30', () => {
  expect([count(planTicks(7).path), planTicks(7).width, count(planTicks(365).path)]).toEqual([7, 39, 30]);
});

describe('a spark line', () => {
  it('runs from 0 to the largest value', () => {
    expect(sparkPath([0, 10, 5], 100, 32)).toEqual({
      line: 'M0 31L50 1L100 16',
      area: 'M0 31L50 1L100 16L100 32L0 32Z',
    });
  });

  it('is flat for zeros, and for one value', () => {
    expect([sparkPath([0, 0], 10, 32).line, sparkPath([3], 10, 32).line]).toEqual(['M0 31L10 31', 'M0 1L10 1']);
  });

  it('is empty without values', () => {
    expect(sparkPath([], 10, 32)).toEqual({ line: '', area: '' });
  });
});

it('days differ by shape', () => {
  expect(dayBars(['ok', 'warn', 'bad', 'none'])).toEqual({
    width: 29,
    height: 34,
    ok: 'M0 0h5v34h-5z',
    warn: 'M8 12h5v22h-5z',
    bad: 'M16 0h5v14h-5zM16 20h5v14h-5z',
    none: 'M24 26h5v8h-5z',
  });
});

describe('bars on an axis', () => {
  it.each([
    [0, 412, 4280, 0, 96],
    [412, 4280, 4280, 96, 904],
    [0, 0, 4280, 0, 4],
    [4280, 4280, 4280, 996, 4],
    [0, 0, 0, 0, 4],
    [5, 9000, 4280, 1, 999],
  ])('span %i to %i on an axis of %i', (start, end, total, x, width) => {
    expect(axisBar(start, end, total)).toEqual({ x, width });
  });

  it('show the wait for the first token', () => {
    expect(latencyBar(500, 2000, 4000)).toEqual({
      wait: { x: 0, width: 125 },
      run: { x: 125, width: 375 },
      isFailed: false,
    });
  });

  it('are whole when the request failed', () => {
    expect(latencyBar(500, 2000, 4000, true)).toMatchObject({ wait: undefined, run: { x: 0, width: 500 } });
  });
});
