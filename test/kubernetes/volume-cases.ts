import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { type Cluster, type Pod, podsOf, read, scaleTo, uidsOf, untilReady, watchPods } from './cluster.ts';
import { applies, type Cases } from './install-cases.ts';
import { documented } from './page.ts';
import { until } from './shell.ts';

const replicas = '  replicas: 2\n';

/** Makes the StatefulSet of two pods again, as the page says, with volumes of another size. @returns the pods afterwards */
async function growVolumes(cluster: Cluster, before: string, after: string): Promise<Pod[]> {
  const { run, edit } = cluster;
  const claim = documented(
    `kubectl -n daypass patch pvc data-daypass-0 -p '{"spec":{"resources":{"requests":{"storage":"8Gi"}}}}'`,
  ).replace('8Gi', after);
  for (const name of ['data-daypass-0', 'data-daypass-1']) await run(claim.replace('data-daypass-0', name));
  await edit('statefulset.yaml', `storage: ${before}`, `storage: ${after}`);
  await edit('statefulset.yaml', /^ {2}serviceName:/m, `${replicas}  serviceName:`);
  await run(documented('kubectl -n daypass delete statefulset daypass --cascade=orphan'));
  await rejects(run(documented('kubectl create -k deploy/kubernetes')), /already exists/);
  await edit('statefulset.yaml', replicas, '');
  await until('both pods are its own', async () => {
    const owners = await read(cluster, 'pods -l app=daypass', '.items[*].metadata.ownerReferences[*].uid');
    const uid = await read(cluster, 'statefulset daypass', '.metadata.uid');
    return owners === `${uid} ${uid}`;
  });
  return untilReady(cluster, 2);
}

export const volumeCases: Cases = {
  'volumes grow, and no pod is replaced': async (cluster) => {
    const before = uidsOf(await podsOf(cluster));
    deepEqual(uidsOf(await growVolumes(cluster, '2Gi', '8Gi')), before);
  },

  'afterwards an apply keeps the number of pods, and new ones have larger volumes': async (cluster) => {
    const pods = await scaleTo(cluster, 4);
    await cluster.run(applies);
    equal(await read(cluster, 'statefulset daypass', '.spec.replicas'), '4');
    deepEqual(uidsOf(await untilReady(cluster, 4)), uidsOf(pods));
    equal(await read(cluster, 'pvc data-daypass-3', '.spec.resources.requests.storage'), '8Gi');
    await scaleTo(cluster, 2);
  },

  'after a `rollout restart`, whose mark is in no file, growing replaces one pod after the other': async (cluster) => {
    await cluster.run('kubectl -n daypass rollout restart statefulset/daypass');
    await cluster.run('kubectl -n daypass rollout status statefulset/daypass');
    const before = uidsOf(await untilReady(cluster, 2));
    const watch = await watchPods(cluster);
    const after = uidsOf(await growVolumes(cluster, '8Gi', '9Gi'));
    ok(!after.some((uid) => before.includes(uid)));
    equal(await watch.least(), 1);
  },

  'a deletion leaves the claims, and the secret': async (cluster) => {
    await cluster.run('kubectl delete -k deploy/kubernetes');
    const names = (await cluster.run('kubectl -n daypass get pvc,secret -o name')).out;
    for (const name of [
      'persistentvolumeclaim/data-daypass-0',
      'persistentvolumeclaim/data-daypass-3',
      'secret/daypass',
    ])
      ok(names.split('\n').includes(name), names);
  },
};
