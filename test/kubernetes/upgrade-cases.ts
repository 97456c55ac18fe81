import { deepEqual, equal, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { type Cluster, read, untilReady, watchPods, watchReplicas } from './cluster.ts';
import { applies, type Cases, makeNamespace } from './install-cases.ts';
import { documented } from './page.ts';
import { until } from './shell.ts';

/** deploy/kubernetes/daypass.yaml of that version. */
const single = join(import.meta.dirname, 'daypass-0.5.0.yaml');

/** Ends an upgrade: its claims are deleted as well. */
async function emptyNamespace(cluster: Cluster): Promise<void> {
  await cluster.run('kubectl delete namespace daypass');
  await makeNamespace(cluster);
}

/** What 0.5.0 installed, with so many pods. */
async function installBefore(cluster: Cluster, count: number): Promise<void> {
  await cluster.run('kubectl config set-context --current --namespace=daypass');
  const config =
    'kubectl create configmap daypass --from-file=gateway.yaml --dry-run=client -o yaml | kubectl apply -f -';
  await cluster.run(`cd deploy/container; ${config}`);
  await cluster.run(`kubectl apply -f ${single}`);
  await cluster.run(`kubectl scale statefulset daypass --replicas=${count}`);
  await until(
    `${count} pods of 0.5.0`,
    async () => (await read(cluster, 'statefulset daypass', '.status.readyReplicas')) === `${count}`,
  );
}

/** Applies the files of today. @returns numbers of pods that were asked for meanwhile, and the least that were ready */
async function upgrade(cluster: Cluster, ...commands: readonly string[]): Promise<{ asked: string[]; least: number }> {
  const claims = await read(cluster, 'pvc', '.items[*].metadata.uid');
  const [asked, endpoints] = [await watchReplicas(cluster), await watchPods(cluster)];
  for (const command of [...commands, applies]) await cluster.run(command);
  let count = 0;
  await until('the autoscaler has its way', async () => {
    count = Number(await read(cluster, 'statefulset daypass', '.spec.replicas'));
    return count > 1;
  });
  const pods = await untilReady(cluster, count);
  ok(pods.every(({ initContainers }) => initContainers === 'migrate'));
  equal(await read(cluster, 'pvc', '.items[*].metadata.uid'), claims);
  await cluster.run('kubectl config set-context --current --namespace=default');
  return { asked: [...new Set(await asked.stop())], least: await endpoints.least() };
}

export const upgradeCases: Cases = {
  'the single file of 0.5 is replaced without a moment at one pod, with 2, 3 and 5 pods': async (cluster) => {
    const seen: string[] = [];
    for (const count of [2, 3, 5]) {
      await installBefore(cluster, count);
      const forget = documented(
        `kubectl apply view-last-applied statefulset/daypass -o yaml | grep -v '^  replicas:' | kubectl apply set-last-applied -f -`,
      );
      const { asked, least } = await upgrade(cluster, forget);
      deepEqual(asked, [String(count)]);
      equal(least, count - 1);
      seen.push(`${least} of ${count} ready at least`);
      await emptyNamespace(cluster);
    }
    return seen.join(', ');
  },

  'without what the page says first, there would be one pod for a moment': async (cluster) => {
    await installBefore(cluster, 3);
    const { asked } = await upgrade(cluster);
    ok(asked.includes('1'), asked.join());
    await emptyNamespace(cluster);
  },

  'the secret of 0.5 stays as somebody has written it': async (cluster) => {
    await installBefore(cluster, 2);
    await cluster.run(
      `kubectl -n daypass patch secret daypass -p '{"stringData":{"OPERATOR_TOKEN":"0123456789abcdef"}}'`,
    );
    const before = await read(cluster, 'secret daypass', '.metadata.resourceVersion');
    await upgrade(cluster);
    equal(await read(cluster, 'secret daypass', '.metadata.resourceVersion'), before);
    await emptyNamespace(cluster);
  },
};
