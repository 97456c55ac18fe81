import { describe, expect, it } from 'vitest';
import { judge, type RulerReading, summarize } from './ruler.ts';

const quick: RulerReading = { best: 2, median: 3, p99: 10, slowness: 1.1, count: 100 };
const elapsed = { limit: { ms: 500, of: 'elapsed' } } as const;
const processor = { limit: { ms: 50, of: 'processor' } } as const;

describe('a figure that is missed', () => {
  it.each([
    ['missed where the ruler was quick', elapsed, quick, 'missed'],
    [
      'not measured where a hundredth of the ruler took a quarter of it',
      elapsed,
      { ...quick, p99: 126 },
      'not measured',
    ],
    ['not measured where the ruler took three times its best', elapsed, { ...quick, median: 6.1 }, 'not measured'],
    ['missed where the ruler has hardly measured', elapsed, { ...quick, p99: 400, count: 9 }, 'missed'],
    ['missed, if of processor time, where the machine was only busy', processor, { ...quick, p99: 400 }, 'missed'],
    [
      'not measured, if of processor time, where work took more of it',
      processor,
      { ...quick, slowness: 1.4 },
      'not measured',
    ],
    ['missed, if it counts, though the ruler was slow', {}, { ...quick, median: 90, p99: 900, slowness: 3 }, 'missed'],
  ] as const)('is %s', (_title, figure, reading, verdict) => {
    expect(judge({ isMet: false, ...figure }, reading)).toBe(verdict);
  });
});

it('a figure that is met stays met on a slow machine', () => {
  expect(judge({ isMet: true, ...elapsed }, { ...quick, median: 90, p99: 900 })).toBe('met');
});

it('a reading compares what the ruler took with its best of the whole run', () => {
  const taken = Array.from({ length: 200 }, (_, index) => ({ took: 200 - index, worked: 3 }));
  expect(summarize(taken, [...taken, { took: 0.5, worked: 2 }])).toEqual({
    best: 0.5,
    median: 101,
    p99: 199,
    slowness: 1.5,
    count: 200,
  });
});
