import { Gauge as Exposed, type Registry } from 'prom-client';
import { checkDependencies } from '#core/http/dependencies.ts';
import type { Gauge } from '#core/extension/gauge.ts';
import type { Host } from '#core/host.ts';
import { prefix } from './prefix.ts';

/** Database and shared state, asked anew each time. */
export const dependencyGauge: Gauge = {
  name: 'dependency_up',
  description: '1 when a dependency answers, 0 when it is away.',
  labels: ['dependency'],
  async read(host) {
    const checks = await checkDependencies(host);
    return checks.map(({ name, ok }) => ({ value: ok ? 1 : 0, labels: { dependency: name.replaceAll(' ', '_') } }));
  },
};

/** Shows what a plugin lets be read. Readings of before are forgotten: a route that is gone is not shown. */
export function registerGauge(gauge: Gauge, figures: Registry, host: () => Host): void {
  const exposed: Exposed = new Exposed({
    name: prefix + gauge.name,
    help: gauge.description,
    labelNames: [...(gauge.labels ?? [])],
    registers: [figures],
    async collect() {
      const readings = await readingsOf(gauge, host());
      exposed.reset();
      for (const { labels = {}, value } of readings) exposed.set(labels, value);
    },
  });
}

/** One figure that cannot be read does not take the others away. */
async function readingsOf(gauge: Gauge, host: Host) {
  try {
    return await gauge.read(host);
  } catch (error) {
    host.log.error(`the figure ${gauge.name} cannot be read`, error);
    return [];
  }
}
