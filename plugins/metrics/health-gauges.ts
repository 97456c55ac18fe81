import type { Gauge } from '#core/gateway/health/gauge.ts';
import type { Registry } from '#core/extension/registry.ts';
import { pingDependencies, readHealth } from '#core/gateway/health/read-health.ts';

/** Whether database and shared state answer; each scrape asks them. */
export const dependencyGauge: Gauge = {
  name: 'dependency_up',
  description: '1 when a dependency responds, 0 when it does not.',
  labels: ['dependency'],
  async read(host) {
    const states = await pingDependencies(host);
    return states.map(({ name, ok }) => ({ value: ok ? 1 : 0, labels: { dependency: labelOf(name) } }));
  },
};

/** The verdict of each health check; the operator pages and `/readyz?verbose` have the reasons. */
export function healthGauge(gateway: Pick<Registry, 'healthChecks'>): Gauge {
  return {
    name: 'health_check',
    description: '1 while a health check passes, 0 while it fails; /readyz?verbose has the reason.',
    labels: ['check'],
    async read(host) {
      const checks = await readHealth(gateway, host);
      return checks.map(({ name, ok }) => ({ value: ok ? 1 : 0, labels: { check: labelOf(name) } }));
    },
  };
}

function labelOf(name: string): string {
  return name.replaceAll(' ', '_');
}
