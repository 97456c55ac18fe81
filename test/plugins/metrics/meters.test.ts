import { Counter, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { CountMeter, DistributionMeter } from '../../../plugins/metrics/meters.ts';

const named = { name: 'daypass_things', help: 'Things\nof "any" kind.' };

test('counts are exposed as prom-client exposes its own', async () => {
  const [registry, theirs] = [new Registry(), new Registry()];
  const meter = new CountMeter({ ...named, registry, labels: ['model', 'status'] });
  const counter = new Counter({ ...named, registers: [theirs], labelNames: ['model', 'status'] });
  expect(await registry.metrics()).toBe(await theirs.metrics());
  for (const [model, status, amount] of [
    ['one', 200, 1],
    ['one', 'none', 3],
    ['tw"o\\', 200, 0.5],
    ['one', 200, 4],
    ['200', 'one', 7],
  ] as const) {
    meter.add(amount, model, status);
    counter.inc({ model, status }, amount);
  }
  expect(await registry.metrics()).toBe(await theirs.metrics());
  expect(await meter.get()).toMatchObject({ type: 'counter', values: (await counter.get()).values });
});

test('distributions are exposed as prom-client exposes its own', async () => {
  const [registry, theirs] = [new Registry(), new Registry()];
  const bounds = [0.005, 0.5, 1, 60];
  const meter = new DistributionMeter({ ...named, registry, labels: ['endpoint'], bounds });
  const histogram = new Histogram({ ...named, registers: [theirs], labelNames: ['endpoint'], buckets: bounds });
  expect(await registry.metrics()).toBe(await theirs.metrics());
  for (const [index, value] of [0, 0.005, 0.006, 1, 59, 60, 61, 7_000].entries()) {
    const endpoint = index % 3 === 0 ? 'chat' : 'messages';
    meter.observe(value, endpoint);
    histogram.observe({ endpoint }, value);
  }
  expect(await registry.metrics()).toBe(await theirs.metrics());
  expect(await meter.get()).toMatchObject({ type: 'histogram', values: pick((await histogram.get()).values) });
});

/** Without exemplars. */
function pick(values: Awaited<ReturnType<Histogram['get']>>['values']): object[] {
  return values.map(({ metricName, value, labels }) => ({ metricName, value, labels }));
}
