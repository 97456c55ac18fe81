import { deepEqual, equal, match, notEqual, rejects } from 'node:assert/strict';
import {
  type Cluster,
  endpointsOf,
  type Pod,
  podsOf,
  read,
  scaleTo,
  uidsOf,
  untilReady,
  watchReplicas,
} from './cluster.ts';
import { startMetricsAdapter } from './metrics-adapter.ts';
import { documented } from './page.ts';
import { until } from './shell.ts';

/** What holds, in the order in which it is tried. A case may return what it has seen. */
export type Cases = Readonly<Record<string, (cluster: Cluster) => Promise<unknown>>>;

export const applies = documented('kubectl apply -k deploy/kubernetes');

/** An empty namespace that admits only pods that are `restricted`, and warns of others. */
export async function makeNamespace({ run }: Cluster): Promise<void> {
  await run(documented('kubectl create namespace daypass'));
  const labels = ['enforce', 'warn', 'audit'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);
  await run(`kubectl label namespace daypass ${labels.join(' ')}`);
}

/** Installs what the page says into an empty namespace. @returns its two pods */
export async function install(cluster: Cluster): Promise<Pod[]> {
  equal((await cluster.run(documented('cp deploy/kubernetes/secret.example.yaml secret.yaml'))).errors, '');
  equal((await cluster.run(documented('kubectl apply -f secret.yaml'))).errors, '');
  equal((await cluster.run(applies)).errors, '');
  return untilReady(cluster, 2);
}

const generations = (cluster: Cluster) =>
  read(cluster, 'statefulset,hpa,pdb,networkpolicy,service', '.items[*].metadata.generation');

export const installCases: Cases = {
  'what the page says installs two pods with Pod Security "restricted", without a warning': async (cluster) => {
    const { run } = cluster;
    await makeNamespace(cluster);
    const pods = await install(cluster);
    equal(new Set(pods.map(({ node }) => node)).size, 2);
    deepEqual(
      pods.map(({ initContainers }) => initContainers),
      ['migrate', 'migrate'],
    );
    match((await run(`kubectl -n daypass ${documented('get pods')}`)).out, /Running/);
    await until('both are behind the service', async () => (await endpointsOf(cluster)) === 'true true');
  },

  'a second apply changes nothing, nor does a third': async (cluster) => {
    const before = await generations(cluster);
    const pods = uidsOf(await podsOf(cluster));
    for (let time = 0; time < 2; time++) equal((await cluster.run(applies)).errors, '');
    equal(await generations(cluster), before);
    deepEqual(uidsOf(await podsOf(cluster)), pods);
    equal((await cluster.run('kubectl diff -k deploy/kubernetes')).out, '');
  },

  'the autoscaler adds pods by the metric, and an unchanged apply keeps all of them, 3 of 3': async (cluster) => {
    await using _ = await startMetricsAdapter(cluster.shell, 1_000);
    // 200 each.
    const pods = await untilReady(cluster, 5);
    const watch = await watchReplicas(cluster);
    for (let time = 0; time < 3; time++) await cluster.run(applies);
    deepEqual([...new Set(await watch.stop())], ['5']);
    deepEqual(uidsOf(await podsOf(cluster)), uidsOf(pods));
  },

  'server-side apply needs --force-conflicts once, and keeps the pods, 3 of 3': async (cluster) => {
    const { run } = cluster;
    const pods = uidsOf(await podsOf(cluster));
    const serverSide = `${documented('kubectl apply --server-side')} -k deploy/kubernetes`;
    await rejects(run(serverSide), /conflict/);
    await run(`${serverSide} ${documented('--force-conflicts')}`);
    const watch = await watchReplicas(cluster);
    for (let time = 0; time < 3; time++) equal((await run(serverSide)).errors, '');
    equal((await run('kubectl diff --server-side -k deploy/kubernetes')).out, '');
    deepEqual([...new Set(await watch.stop())], ['5']);
    deepEqual(uidsOf(await podsOf(cluster)), pods);
    // Back to the other way is possible as well.
    await run(applies);
    deepEqual(uidsOf(await podsOf(cluster)), pods);
  },

  'an apply leaves a secret alone that a secret store has written': async (cluster) => {
    await cluster.run(`kubectl -n daypass patch secret daypass -p '{"stringData":{"OPERATOR_TOKEN":"from-a-store"}}'`);
    await cluster.run(applies);
    const token = await read(cluster, 'secret daypass', '.data.OPERATOR_TOKEN');
    equal(Buffer.from(token, 'base64').toString(), 'from-a-store');
  },

  'a pod that is scaled away leaves its claim, and has it again afterwards': async (cluster) => {
    const volume = () => read(cluster, 'pvc data-daypass-4', '.spec.volumeName');
    const before = await volume();
    notEqual(before, '');
    await scaleTo(cluster, 2);
    equal(await read(cluster, 'pvc data-daypass-4', '.status.phase'), 'Bound');
    await scaleTo(cluster, 5);
    equal(await volume(), before);
    await scaleTo(cluster, 2);
  },

  'a pull secret is added as the page says': async (cluster) => {
    const command = documented(
      `kubectl -n daypass patch serviceaccount default -p '{"imagePullSecrets":[{"name":"NAME"}]}'`,
    );
    await cluster.run(command.replace('NAME', 'pull'));
    equal(await read(cluster, 'serviceaccount default', '.imagePullSecrets[*].name'), 'pull');
  },

  'every optional part is admitted, with the host of BASE_URL, and so is the pod of a backup': async (cluster) => {
    const { run } = cluster;
    await cluster.takeAll();
    await cluster.edit('kustomization.yaml', 'https://ai.example.com', 'https://shop.example.net');
    equal((await run(applies)).errors, '');
    match((await run(`kubectl -n daypass ${documented('get httproute,ingress')}`)).out, /shop\.example\.net/);
    equal(await read(cluster, 'ingress daypass', '.spec.tls[*].hosts[*]'), 'shop.example.net');
    equal(await read(cluster, 'httproute daypass', '.spec.hostnames[*]'), 'shop.example.net');
    equal((await run('kubectl -n daypass create job --from=cronjob/daypass-backup trial')).errors, '');
    await until('the backup has a node and its volume', async () => {
      const node = await read(cluster, 'pods -l job-name=trial', '.items[*].spec.nodeName');
      return node !== '' && (await read(cluster, 'pvc daypass-backups', '.status.phase')) === 'Bound';
    });
    await cluster.edit('kustomization.yaml', '- autoscaler.yaml', '- scaled-object.yaml');
    equal((await run(`${applies} --dry-run=server`)).errors, '');
    await cluster.restore();
    await run(
      `kubectl -n daypass delete job/trial ingress/daypass httproute/daypass cronjob/daypass-backup netpol/daypass-egress`,
    );
    await run(applies);
    await untilReady(cluster, 2);
  },
};
