import { expect, it } from 'vitest';
import { summarizeChecks } from '../../../plugins/probes/checkups.ts';
import type { ProbedRoute } from '../../../plugins/probes/state.ts';

type Result = ProbedRoute['results'][number];

const result = (check: string, state: string, startedAt: number) =>
  ({ check, state, startedAt: new Date(startedAt) }) as unknown as Result;

function routeOf(model: string, results: readonly Result[]): ProbedRoute {
  const wrong = results.filter(({ state }) => state === 'failed');
  return {
    route: 'a/b',
    model,
    results,
    drifted: wrong.filter(({ check }) => check !== 'fingerprint'),
    changed: wrong.find(({ check }) => check === 'fingerprint'),
  };
}

it('a checkup says of a model what all of its routes do', () => {
  const checkups = summarizeChecks([
    routeOf('dp/a', [result('answers', 'ok', 1_000), result('fingerprint', 'ok', 3_000)]),
    routeOf('dp/a', [result('answers', 'ok', 2_000), result('tool', 'failed', 2_500)]),
    routeOf('dp/b', [result('answers', 'ok', 5_000)]),
    routeOf('dp/c', [result('answers', 'ok', 5_000), result('fingerprint', 'failed', 6_000)]),
  ]);
  expect(Object.fromEntries(checkups)).toEqual({
    'dp/a': { at: 3_000, isPassed: false, isSameModel: true },
    'dp/b': { at: 5_000, isPassed: true, isSameModel: undefined },
    'dp/c': { at: 6_000, isPassed: true, isSameModel: false },
  });
});

it('a checkup says nothing of a model of which nothing could be found out', () => {
  expect(summarizeChecks([routeOf('dp/a', [result('answers', 'unknown', 1_000)]), routeOf('dp/b', [])]).size).toBe(0);
});
