import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Clock } from '../../bench/simulate/clock.ts';
import { overshootOf } from '../../bench/simulate/figures.ts';
import { scenarios } from '../../bench/simulate/scenarios.ts';
import { Simulation } from '../../bench/simulate/simulation.ts';
import { type OwnRedisServer, startRedis } from '../support/global-redis.ts';

let redis: OwnRedisServer | undefined;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => redis?.stop());

/** A scenario at a size that takes seconds, by what its figures are called. */
async function simulate(name: string, scale = { instances: 8, rate: 60 }): Promise<Map<string, number>> {
  const scenario = scenarios.find((one) => one.name === name);
  const run = (simulation: Simulation) => scenario?.run(simulation) ?? Promise.resolve([]);
  const findings = await Simulation.run(redis?.url ?? '', { ...scale, seed: 1 }, run);
  const over = findings.filter(({ value, aim = Infinity }) => value > aim);
  expect(over, `${name}: over its aim`).toEqual([]);
  return new Map(findings.map(({ what, value }) => [what, value]));
}

// Minutes of the simulation, on a machine that may be busy.
describe('the instances of a simulated gateway', { timeout: 300_000 }, () => {
  it.for(scenarios.map(({ name, story }) => [name, story] as const))(
    'keep every aim of the scenario "%s": %s',
    async ([name], { skip }) => {
      skip(redis === undefined, 'there is no redis-server');
      await simulate(name);
    },
  );

  it('get messages in proportion to their number, not to its square', async ({ skip }) => {
    skip(redis === undefined, 'there is no redis-server');
    const few = await simulate('steady', { instances: 6, rate: 60 });
    const many = await simulate('steady', { instances: 24, rate: 60 });
    const messages = 'messages to instances a second';
    // News of accounts go where they are followed; three operators hear from each instance that there are some.
    expect(many.get(messages)).toBeLessThan(4 * (few.get(messages) ?? 0));
  });

  it('do the same again with the same seed', async ({ skip }) => {
    skip(redis === undefined, 'there is no redis-server');
    const runs = [await simulate('minute'), await simulate('minute')];
    expect(runs[1]).toEqual(runs[0]);
  });
});

it('the simulated clock calls timers in order, and each when its time has come', async () => {
  const clock = new Clock(1_000);
  const calls: string[] = [];
  const note = (name: string) => calls.push(`${name} ${performance.now()} ${Date.now()}`);
  {
    using _installed = clock.install(() => 0.5);
    setTimeout(note, 20, 'late');
    setTimeout(note, 10, 'early');
    const repeated = setInterval(note, 15, 'repeated');
    clearTimeout(setTimeout(note, 5, 'cleared'));
    await clock.runUntil(40);
    clearInterval(repeated);
    await clock.runUntil(100);
  }
  expect(calls).toEqual(['early 10 1010', 'repeated 15 1015', 'late 20 1020', 'repeated 30 1030']);
  expect(Math.abs(Date.now() - performance.timeOrigin - performance.now())).toBeLessThan(60_000);
});

it('an overshoot is what was granted beyond the burst and the rate, over the worst stretch of time', () => {
  const limits = { limit: 60, period: 60, burst: 2 };
  expect(overshootOf([0, 0, 1_000, 2_000], limits)).toBe(0);
  expect(overshootOf([0, 0, 0, 0], limits)).toBe(2);
  expect(overshootOf([0, 9_000, 9_000, 9_000, 9_500], limits)).toBeCloseTo(1.5);
});
