import { readModelHealth, type ModelState } from '#core/business/model-health/model-health.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import type { Registry } from '#core/extension/registry.ts';
import { gauge, gaugeBy } from '#core/gateway/health/gauge.ts';
import { getMetricSource } from '#core/gateway/health/metric-source.ts';
import { pingDependencies, readHealth } from '#core/gateway/health/read-health.ts';
import { getRunningExchanges } from '#core/gateway/pipeline/running-exchanges.ts';
import { describeProblems } from '#core/web/problems/find-problems.ts';
import type { Metrics } from './metrics.ts';

/** Serves `GET /metrics` on the operator's listener, in Prometheus text format. */
export const plugin: GatewayPlugin = {
  name: 'metrics',
  register(server) {
    const { gateway } = server;
    let metrics: Metrics | undefined;
    gateway.observer({
      name: 'metrics',
      done: (exchange, outcome) => metrics?.requests.done(exchange, outcome),
    });
    gateway.gauge(gauge('requests_running', 'Requests in flight.', (host) => getRunningExchanges(host).size));
    gateway.gauge(dependencyGauge);
    gateway.gauge(createHealthGauge(gateway));
    gateway.gauge(createProblemGauge(gateway));
    gateway.gauge(createModelGauge(gateway));
    // Runs before the first request, once every plugin has registered its gauges. Commands that do not serve requests never load the
    // counters.
    server.ext('onPreStart', async () => {
      const { Metrics } = await import('./metrics.ts');
      const startedMetrics = new Metrics(gateway.gauges.values(), () => server.host());
      metrics = startedMetrics;
      getMetricSource(server.host()).read = () => startedMetrics.readFamilies();
    });
    gateway.operatorRoute({
      method: 'GET',
      path: '/metrics',
      options: { state: { parse: false } },
      handler: async (_request, h) => {
        if (metrics === undefined) throw new Error('the server has not started');
        return h.response(await metrics.readText()).header('content-type', metrics.contentType);
      },
    });
  },
};

/** Each scrape queries the database and the shared store. */
const dependencyGauge = gaugeBy(
  ['dependency'],
  'dependency_up',
  '1 when a dependency responds, 0 when it does not.',
  async (host) => (await pingDependencies(host)).map(({ name, ok }) => [toLabel(name), ok ? 1 : 0]),
);

const createHealthGauge = (gateway: Pick<Registry, 'healthChecks'>) =>
  gaugeBy(
    ['check'],
    'health_check',
    '1 while a health check passes, 0 while it fails; /readyz?verbose has the reason.',
    async (host) => (await readHealth(gateway, host)).map(({ name, ok }) => [toLabel(name), ok ? 1 : 0]),
  );

const createProblemGauge = (gateway: Pick<Registry, 'problems' | 'pageTexts'>) =>
  gaugeBy(
    ['problem', 'severity'],
    'problems',
    'Problems that wait for an operator, by kind and severity, as /operator and /readyz?verbose list them.',
    async (host) => {
      const problems = await describeProblems(gateway, host);
      const problemGroups = Map.groupBy(problems, ({ problem, severity }) => `${problem} ${severity}`);
      return Array.from(problemGroups.values(), (group) => [
        group[0]?.problem ?? '',
        group[0]?.severity ?? '',
        group.length,
      ]);
    },
  );

const stateNumbers: Readonly<Record<ModelState, number>> = { working: 0, no_data: 0, degraded: 1, down: 2, unknown: 3 };

const createModelGauge = (gateway: Pick<Registry, 'statusReports'>) =>
  gaugeBy(
    ['model'],
    'model_state',
    'State of a model for customers: 0 working or unused, 1 degraded, 2 down, 3 without a request since it failed.',
    async (host) => {
      const ids = new Map(host.catalog.models.map(({ publicName, id }) => [publicName, id]));
      return (await readModelHealth(gateway, host)).map(({ id, state }) => [ids.get(id) ?? id, stateNumbers[state]]);
    },
  );

function toLabel(name: string): string {
  return name.replaceAll(' ', '_');
}
