import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict';
import { endpointsOf, type Pod, podsOf, read, scaleTo, untilReady, watchPods } from './cluster.ts';
import type { Cases } from './install-cases.ts';
import { nodes } from './nodes.ts';
import { documented } from './page.ts';
import { until } from './shell.ts';

const drain = (node: string) => `kubectl drain ${node} --ignore-daemonsets --delete-emptydir-data`;
const nodesOf = (pods: readonly Pod[]) => pods.map(({ node }) => node).toSorted();
const names = nodes.map(({ name }) => name);

export const nodeCases: Cases = {
  'pods spread over the nodes and zones: 2 on two, 4 on four, 8 two by two': async (cluster) => {
    equal(new Set(nodesOf(await podsOf(cluster))).size, 2);
    deepEqual(nodesOf(await scaleTo(cluster, 4)), names.toSorted());
    deepEqual(nodesOf(await scaleTo(cluster, 8)), names.flatMap((name) => [name, name]).toSorted());
    await scaleTo(cluster, 2);
  },

  'the pod of a drained node goes to another one, while the other pod serves': async (cluster) => {
    const [first = ''] = nodesOf(await podsOf(cluster));
    const watch = await watchPods(cluster);
    await cluster.run(drain(first));
    const after = nodesOf(await untilReady(cluster, 2));
    equal(new Set(after).size, 2);
    ok(!after.includes(first));
    equal(await watch.least(), 1);
    await cluster.run(`kubectl uncordon ${first}`);
  },

  'pods that share a node are told apart by deleting one, as the page says': async (cluster) => {
    const { run } = cluster;
    const [only = '', ...others] = names;
    await run(`kubectl cordon ${others.join(' ')}`);
    for (const { name, node } of await podsOf(cluster)) {
      if (node !== only) await run(`kubectl -n daypass delete pod ${name}`);
      await untilReady(cluster, 2);
    }
    deepEqual(nodesOf(await podsOf(cluster)), [only, only]);
    await run(`kubectl uncordon ${others.join(' ')}`);
    deepEqual(nodesOf(await untilReady(cluster, 2)), [only, only]);
    await run(`${documented('kubectl delete pod').replace('delete', '-n daypass delete')} daypass-1`);
    equal(new Set(nodesOf(await untilReady(cluster, 2))).size, 2);
  },

  'the budget keeps one pod from a drain while the other is missing': async (cluster) => {
    const { run } = cluster;
    const [first = '', second = ''] = nodesOf(await podsOf(cluster));
    await run(`kubectl cordon ${names.join(' ')}`);
    await run(drain(first));
    await rejects(run(`${drain(second)} --timeout=10s`), /disruption budget/);
    equal((await podsOf(cluster)).filter(({ isReady }) => isReady).length, 1);
    await run(`kubectl uncordon ${names.join(' ')}`);
    await untilReady(cluster, 2);
  },

  'a lost node’s pod stays Terminating until the taint of the page': async (cluster) => {
    const { run } = cluster;
    await scaleTo(cluster, 4);
    const lost = nodes.find(({ group }) => group === 'lost')?.name ?? '';
    const before = (await podsOf(cluster)).find(({ node }) => node === lost);
    const podNow = async () => (await podsOf(cluster)).find(({ name }) => name === before?.name);
    cluster.loseNodes();
    const out = await until(
      'the pod is not behind the service',
      async () => (await endpointsOf(cluster)).includes('false'),
      180,
    );
    const deleted = await until('the pod is deleted', async () => (await podNow())?.isTerminating === true);
    await until(
      'the budget is used up',
      async () => (await read(cluster, 'pdb daypass', '.status.disruptionsAllowed')) === '0',
    );
    const other = (await podsOf(cluster)).find(({ isReady }) => isReady)?.node ?? '';
    await rejects(run(`${drain(other)} --timeout=10s`), /disruption budget/);
    await run(`kubectl uncordon ${other}`);
    equal((await podNow())?.uid, before?.uid);
    const taint = documented('kubectl taint node NODE node.kubernetes.io/out-of-service=nodeshutdown:NoExecute');
    await run(taint.replace('NODE', lost));
    const again = await until('it runs elsewhere', async () => (await podNow())?.isReady === true);
    notEqual((await podNow())?.node, lost);
    ok((await podNow())?.uid !== before?.uid);
    await run(`kubectl taint node ${lost} node.kubernetes.io/out-of-service-`);
    await cluster.findNodes();
    match((await run('kubectl get nodes')).out, new RegExp(String.raw`${lost}\s+Ready`));
    await untilReady(cluster, 4);
    const seconds = [out, deleted, again].map((passed) => Math.round(passed));
    return `out of the endpoints after ${seconds[0]} s, deleted ${seconds[1]} s later, elsewhere ${seconds[2]} s after the taint`;
  },
};
