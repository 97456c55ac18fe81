import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createTestHost } from '#core/extension/testing/index.ts';
import { processGauges } from '#core/gateway/health/process-gauges.ts';

it('the lag of the event loop is the same for two scrapers, and forgotten after two minutes', async () => {
  const host = createTestHost();
  onTestFinished(() => host[Symbol.asyncDispose]());
  const gauge = processGauges.find(({ name }) => name === 'event_loop_lag_seconds');
  const latest = async () => [...((await gauge?.read(host)) ?? [])].at(-1)?.value ?? NaN;
  await latest();
  await delay(30); // the timer of the measurement has run once
  const end = performance.now() + 1_000;
  while (performance.now() < end);
  await delay(30);
  const [one, other] = [await latest(), await latest()];
  expect(one).toBeGreaterThan(0.5);
  expect(other).toBeGreaterThanOrEqual(one);
  host.clock.advance(61_000);
  // The younger measurement is read now. Its timer is another one, and a busy machine lets both wait.
  expect(await latest()).toBeGreaterThan(one / 2);
  host.clock.advance(61_000);
  expect(await latest()).not.toBeGreaterThan(one / 2);
});
