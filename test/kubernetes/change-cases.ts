import { equal, match, notEqual, ok, rejects } from 'node:assert/strict';
import { type Cluster, podsOf, read, scaleTo, untilReady, watchPods } from './cluster.ts';
import { applies, type Cases } from './install-cases.ts';
import { documented } from './page.ts';
import { until } from './shell.ts';

const revisionOf = (cluster: Cluster) => read(cluster, 'statefulset daypass', '.status.updateRevision');

/** Replaces all pods by what a command changes. @returns the least number of pods that were ready meanwhile */
async function replaced(cluster: Cluster, count: number, change: () => Promise<unknown>): Promise<number> {
  const before = await revisionOf(cluster);
  const watch = await watchPods(cluster);
  await change();
  await until('there is another revision', async () => (await revisionOf(cluster)) !== before);
  await untilReady(cluster, count);
  return watch.least();
}

export const changeCases: Cases = {
  'a changed gateway.yaml is applied twice by the command of the page, and replaces no pod': async (cluster) => {
    const revision = await revisionOf(cluster);
    const command = documented(
      'kubectl -n daypass create configmap daypass --from-file=gateway.yaml --dry-run=client -o yaml | kubectl apply -f -',
    );
    for (const name of ['One', 'Two']) {
      await cluster.edit('gateway.yaml', /name: (Daypass|One)/, `name: ${name}`);
      equal((await cluster.run(`cd deploy/kubernetes; ${command}`)).errors, '');
      match(await read(cluster, 'configmap daypass', '.data'), new RegExp(`name: ${name}`));
    }
    equal(await revisionOf(cluster), revision);
    await cluster.run(applies);
    equal(await revisionOf(cluster), revision);
  },

  'changed settings and `rollout restart` replace one pod after the other': async (cluster) => {
    await scaleTo(cluster, 3);
    const byRestart = documented('kubectl -n daypass rollout restart statefulset/daypass');
    equal(await replaced(cluster, 3, () => cluster.run(byRestart)), 2);
    await cluster.edit('kustomization.yaml', 'https://ai.example.com', 'https://shop.example.net');
    equal(await replaced(cluster, 3, () => cluster.run(applies)), 2);
  },

  'a version is replaced pod by pod, and comes back with its settings': async (cluster) => {
    const [{ image: first = '' } = {}] = await podsOf(cluster);
    const settings = () =>
      read(cluster, 'statefulset daypass', '.spec.template.spec.containers[0].envFrom[0].configMapRef.name');
    const firstSettings = await settings();
    await cluster.edit('kustomization.yaml', /sha256:0{64}/, `sha256:${'1'.repeat(64)}`);
    await cluster.edit('kustomization.yaml', 'DATABASE_WAIT=3600', 'DATABASE_WAIT=60');
    equal(await replaced(cluster, 3, () => cluster.run(applies)), 2);
    ok((await podsOf(cluster)).every(({ image }) => /@sha256:1{64}$/.test(image)));
    const back = documented('kubectl -n daypass rollout undo statefulset/daypass');
    equal(await replaced(cluster, 3, () => cluster.run(back)), 2);
    ok((await podsOf(cluster)).every(({ image }) => image === first));
    equal(await settings(), firstSettings);
    notEqual(await read(cluster, `configmap ${firstSettings}`, '.data.BASE_URL'), '');
  },

  'a version that never starts stops at the first pod, and the way back needs nothing else': async (cluster) => {
    await cluster.restore();
    await cluster.edit(
      'statefulset.yaml',
      '      initContainers:',
      '      nodeSelector: { nowhere: "true" }\n      initContainers:',
    );
    const watch = await watchPods(cluster);
    await cluster.run(applies);
    await until('one pod waits', async () => (await podsOf(cluster)).filter(({ isReady }) => !isReady).length === 1);
    await rejects(cluster.run('kubectl -n daypass rollout status statefulset/daypass --timeout=10s'), /timed out/);
    equal((await podsOf(cluster)).filter(({ isReady }) => isReady).length, 2);
    await cluster.run('kubectl -n daypass rollout undo statefulset/daypass');
    await untilReady(cluster, 3);
    equal(await watch.least(), 2);
    await cluster.restore();
    await cluster.run(applies);
    await untilReady(cluster, 3);
  },
};
