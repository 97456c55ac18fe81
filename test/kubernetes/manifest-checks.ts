import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { checkRules, evaluateRules, monitorJob, ruleTests } from '../deploy/alert-cases.ts';
import { mistakesOf } from '../deploy/schemas/mistakes.ts';
import type { Report } from './report.ts';
import type { Built, Trial } from './trial.ts';

/** What kustomize makes of deploy/kubernetes, against the published schemas. */
export async function checkManifests({ attempt }: Report, trial: Trial): Promise<void> {
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

  await attempt(
    'every optional part builds, with the host of BASE_URL and the image of the kustomization',
    async () => {
      await trial.restore();
      await trial.takeAll();
      await trial.edit('kustomization.yaml', 'https://ai.example.com', 'https://shop.example.net');
      const built = await trial.build();
      deepEqual(built.flatMap(mistakesOf), []);
      const text = JSON.stringify(built.filter(({ kind }) => ['Ingress', 'HTTPRoute'].includes(kind)));
      equal(text.match(/shop\.example\.net/g)?.length, 3);
      ok(!text.includes('ai.example.com'));
      equal(imagesOf(built).length, 1);
    },
  );

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
}

/** The alerts as they are built for the Prometheus Operator. @param program promtool */
export async function checkAlerts({ attempt }: Report, trial: Trial, program: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'daypass-rules-'));
  try {
    const rules = join(folder, 'rules.yml');
    await attempt('promtool reads the rules', async () => {
      await trial.restore();
      await trial.takeAll();
      const rule = (await trial.build()).find(({ kind }) => kind === 'PrometheusRule');
      await trial.restore();
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
