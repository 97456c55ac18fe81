import { expect, it } from 'vitest';
import { stageTimes, timeStage } from '#core/gateway/pipeline/stage-times.ts';
import type { Stage } from '#core/gateway/pipeline/stage.ts';
import { createExchange } from '../../../support/exchange.ts';

it('a timed stage enters as before, and its time is noted however it ends', async () => {
  class Counting implements Stage {
    #entered = 0;
    enter() {
      this.#entered++;
      if (this.#entered === 3) throw new Error('refused');
      return this.#entered === 2 ? Promise.resolve() : undefined;
    }
  }
  const exchange = createExchange();
  const { stage } = timeStage({ name: 'counting', stage: new Counting() });
  expect(stage.enter?.(exchange)).toBeUndefined();
  await stage.enter?.(exchange);
  expect(() => stage.enter?.(exchange)).toThrow('refused');
  const times = exchange.get(stageTimes);
  expect(times.map((time) => time.stage)).toEqual(['counting', 'counting', 'counting']);
  expect(times.every(({ duration, startedAt }) => duration >= 0 && startedAt >= 0)).toBe(true);
});

it('a stage without `enter` stays as it is', () => {
  const stage: Stage = { done: () => undefined };
  expect(timeStage({ name: 'log', stage }).stage).toBe(stage);
});
