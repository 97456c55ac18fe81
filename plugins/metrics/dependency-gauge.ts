import type { Gauge } from '#core/extension/gauge.ts';
import { checkDependencies } from '#core/http/dependencies.ts';

/** Whether database and shared state answer; each scrape asks them. */
export const dependencyGauge: Gauge = {
  name: 'dependency_up',
  description: '1 when a dependency responds, 0 when it does not.',
  labels: ['dependency'],
  async read(host) {
    const checks = await checkDependencies(host);
    return checks.map(({ name, ok }) => ({ value: ok ? 1 : 0, labels: { dependency: name.replaceAll(' ', '_') } }));
  },
};
