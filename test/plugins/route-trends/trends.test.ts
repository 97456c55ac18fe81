import { expect, it } from 'vitest';
import { findSteps, type TrendCounts } from '../../../plugins/route-trends/trends.ts';

/** Bucket of a duration, as records have it. */
const bucket = (ms: number) => Math.ceil(Math.log(ms / 10) / Math.log(1.1));
function passed({ attempts = 1_000, throttled = 0, firstMs = 500, answers = 900, speed = 60 } = {}): TrendCounts {
  return {
    attempts,
    throttled,
    firstContent: [[bucket(firstMs), answers]],
    streamedTokens: speed * 1_000,
    streamedMs: 1_000_000,
  };
}
const kinds = (before: TrendCounts, now: TrendCounts) => findSteps(before, now).map(({ kind }) => kind);

it('a route that lets through as much as before has no step', () => {
  expect(kinds(passed(), passed())).toEqual([]);
  expect(kinds(passed(), passed({ throttled: 10, firstMs: 700, speed: 45 }))).toEqual([]);
});

it('a vendor that throttles three times as often, and notably, is a step', () => {
  expect(findSteps(passed({ throttled: 4 }), passed({ throttled: 61 }))).toEqual([
    { kind: 'throttled', before: 0.004, now: 0.061 },
  ]);
  expect(kinds(passed({ throttled: 30 }), passed({ throttled: 61 }))).toEqual([]);
  expect(kinds(passed(), passed({ attempts: 150, throttled: 60 }))).toEqual([]);
});

it('a first token that comes half as late again is a step, and one of few answers is not', () => {
  expect(kinds(passed(), passed({ firstMs: 1_200 }))).toEqual(['first_token']);
  expect(kinds(passed({ firstMs: 100 }), passed({ firstMs: 250 }))).toEqual([]);
  expect(kinds(passed(), passed({ firstMs: 1_200, answers: 90 }))).toEqual([]);
});

it('a stream that is a third slower is a step, and what became better is none', () => {
  expect(kinds(passed(), passed({ speed: 40 }))).toEqual(['speed']);
  expect(kinds(passed({ throttled: 90, firstMs: 2_000, speed: 30 }), passed())).toEqual([]);
  expect(kinds(passed({ speed: 10 }), passed({ speed: 5 }))).toEqual([]);
});
