import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readModule } from '../deploy/schemas/sources.ts';
import { freePort } from '../support/free-port.ts';
import type { InstalledProgram } from '../support/install-program.ts';
import { type RunningProgram, runProgram } from '../support/run-program.ts';
import type { ControlPlane } from './control-plane.ts';
import { moduleOf } from './install.ts';
import { until } from './shell.ts';

/** Whose kwok plays a node: one keeps running, the other ends as a machine does that loses power. */
export type Group = 'lasting' | 'lost';

/** Nodes in two zones. */
export const nodes = [
  { name: 'one', zone: 'a', group: 'lasting' },
  { name: 'two', zone: 'a', group: 'lasting' },
  { name: 'three', zone: 'b', group: 'lasting' },
  { name: 'four', zone: 'b', group: 'lost' },
] as const satisfies readonly { readonly name: string; readonly zone: string; readonly group: Group }[];

const label = 'trial/group';

/** Makes nodes, and volumes for their pods. */
export async function makeNodes({ shell }: ControlPlane): Promise<void> {
  await shell.apply(...nodes.map(nodeOf), storageClass, ...volumes('2Gi', 40), ...volumes('20Gi', 8));
}

/** Plays the nodes of a group: they are ready, and their pods run at once. */
export async function playNodes(
  kwok: InstalledProgram,
  { shell, config }: ControlPlane,
  group: Group,
): Promise<RunningProgram> {
  const port = await freePort();
  const stages = join(dirname(config), 'kwok.yaml');
  await writeFile(stages, await readStages(kwok));
  const words = [
    `--kubeconfig=${config}`,
    `--config=${stages}`,
    '--manage-all-nodes=false',
    `--manage-nodes-with-label-selector=${label}=${group}`,
    `--server-address=127.0.0.1:${port}`,
    // Pods of two groups must not have the same address.
    `--cidr=10.${group === 'lasting' ? 1 : 2}.0.1/24`,
    '--node-lease-duration-seconds=40',
  ];
  const program = await runProgram(kwok, words, port, { HOME: dirname(config) }, 60_000);
  const ready = `kubectl wait --for condition=Ready node -l ${label}=${group} --timeout=60s`;
  await until(`the ${group} nodes are ready`, async () => (await shell.run(ready)).out !== '');
  return program;
}

/** What happens to nodes and pods: the files of kwok that go through their lives without a pause. */
async function readStages(kwok: InstalledProgram): Promise<string> {
  const module = (await moduleOf(kwok)).replace(' ', '@');
  const files = ['node/fast/node-initialize', 'node/heartbeat-with-lease/node-heartbeat-with-lease'];
  for (const name of ['ready', 'complete', 'delete']) files.push(`pod/fast/pod-${name}`);
  const stages = await Promise.all(files.map((file) => readModule(module, `kustomize/stage/${file}.yaml`)));
  return stages.join('\n---\n');
}

function nodeOf({ name, zone, group }: (typeof nodes)[number]): object {
  const capacity = { cpu: '16', memory: '64Gi', 'ephemeral-storage': '100Gi', pods: '110' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': zone, [label]: group },
    },
    status: { capacity, allocatable: capacity },
  };
}

/** Its volumes can grow; they are made by hand. */
const storageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'trial', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'kubernetes.io/no-provisioner',
  allowVolumeExpansion: true,
};

const volumes = (size: string, count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `${size.toLowerCase()}-${index}` },
    spec: {
      capacity: { storage: size },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'trial',
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path: `/nonexistent/${size}-${index}` },
    },
  }));
