import { readdir, readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import type { Registry } from '#core/extension/registry.ts';
import { absentCapabilities } from '../ci/absent.ts';
import { type AlertRule, exposedSeries, readAlerts, registryOfPlugins, selectorsOf } from './watching-fixture.ts';

const docs = new URL('../../docs/', import.meta.url);
/** Labels that Prometheus adds to what it scrapes. */
const ofPrometheus = new Set(['instance', 'job']);

let registry: Registry;
let alerts: AlertRule[];
let series: ReadonlyMap<string, ReadonlySet<string>>;
beforeAll(async () => {
  registry = await registryOfPlugins();
  alerts = await readAlerts();
  series = exposedSeries(registry);
});

/** Rules, dashboard and runbooks are about all capabilities. */
const isWhole = absentCapabilities.length === 0;

/** What is wrong with the selectors of an expression, judged by what `/metrics` has. */
function findUnknown(expression: string): string[] {
  return selectorsOf(expression).flatMap(({ name, labels }) => {
    const known = series.get(name);
    if (known === undefined) return [`${name} is not a metric`];
    return labels.filter((label) => !known.has(label) && !ofPrometheus.has(label)).map((label) => `${name}{${label}}`);
  });
}

it('notices a metric that does not exist, and a label that it does not have', () => {
  expect(findUnknown('rate(daypass_made_up_total[5m]) / daypass_model_state{color="red", instance="a"}')).toEqual([
    'daypass_made_up_total is not a metric',
    'daypass_model_state{color}',
  ]);
});

it.runIf(isWhole)('alerts on metrics and labels that the gateway has', () => {
  expect(alerts.flatMap(({ expr }) => findUnknown(expr))).toEqual([]);
  expect(alerts.length).toBeGreaterThan(20);
});

it.runIf(isWhole)('the dashboard shows metrics and labels that the gateway has', async () => {
  const text = await readFile(new URL('../../deploy/grafana/dashboard.json', import.meta.url), 'utf8');
  const { panels } = JSON.parse(text) as { panels: { title: string; targets?: { expr: string }[] }[] };
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(expressions.length).toBeGreaterThan(40);
  expect(expressions.flatMap(findUnknown)).toEqual([]);
});

it('names a severity and a runbook for each alert, and an alert for each runbook', async () => {
  expect(alerts.filter(({ labels }) => !['page', 'ticket'].includes(labels.severity))).toEqual([]);
  const runbooks = alerts.map(({ annotations }) => annotations.runbook);
  const files = (await readdir(new URL('runbooks/', docs))).filter((name) => name !== 'README.md');
  expect(runbooks.toSorted()).toEqual(files.map((name) => `docs/runbooks/${name}`).toSorted());
  const index = await readFile(new URL('runbooks/README.md', docs), 'utf8');
  for (const { alert, annotations } of alerts) {
    const page = await readFile(new URL(annotations.runbook.replace('docs/', ''), docs), 'utf8');
    expect(page).toMatch(new RegExp(`^# ${alert}\\n\\n(?:.+\\n)+\\n\\*\\*Customers:\\*\\* (?:.+\\n)+\\n1\\. `));
    expect(index).toContain(`[${alert}](${annotations.runbook.replace('docs/runbooks/', '')})`);
  }
});

it('names only runbooks that exist for problems and health checks', async () => {
  const named = [...registry.problems.values(), ...registry.healthChecks.values()].flatMap(
    ({ runbook }) => runbook ?? [],
  );
  const files = new Set(await readdir(new URL('runbooks/', docs)));
  expect(named.length).toBeGreaterThan(12);
  expect(named.filter((name) => !files.has(`${name}.md`))).toEqual([]);
});

it.runIf(isWhole)('runbooks name only commands, pages and metrics that exist', async () => {
  const commands = new Set([
    ...registry.commands.keys(),
    'start',
    'reload',
    'check',
    'doctor',
    'schema',
    'migrate',
    'restore',
  ]);
  const pages = new Set(registry.pages.map(({ path }) => path));
  const texts = await Promise.all(
    alerts.map(({ annotations: { runbook } }) => readFile(new URL(`../${runbook}`, docs), 'utf8')),
  );
  const wrong = texts.flatMap((text) => [
    ...[...text.matchAll(/`daypass ([a-z-]+)/g)].filter(([, name = '']) => !commands.has(name)).map(([words]) => words),
    ...[...text.matchAll(/`(\/(?:operator|status|dashboard)[\w/-]*)`/g)]
      .filter(([, path = '']) => !pages.has(path))
      .map(([words]) => words),
    ...[...text.matchAll(/`(daypass_\w+)/g)]
      .filter(([, name = '']) => !series.has(name) && !series.has(`${name}_bucket`))
      .map(([words]) => words),
  ]);
  expect(wrong).toEqual([]);
});
