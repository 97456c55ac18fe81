import { type Said, type Shell, until, type Watch } from './shell.ts';
import type { Trial } from './trial.ts';

/** A cluster, and the checkout from which somebody installs. Cases find it as the one before has left it. */
export interface Cluster extends Pick<Trial, 'edit' | 'restore' | 'takeAll'> {
  readonly shell: Shell;
  /** Runs a command line in the checkout. */
  run(command: string): Promise<Said>;
  /** Ends what plays some nodes, as a machine ends that loses power. */
  loseNodes(): void;
  findNodes(): Promise<void>;
}

export interface Pod {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly image: string;
  readonly revision: string;
  readonly isReady: boolean;
  readonly isTerminating: boolean;
  readonly initContainers: string;
}

interface PodObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly image: string }[];
    readonly initContainers?: readonly { readonly args?: readonly string[] }[];
  };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Pods of the gateway, by their names. */
export async function podsOf({ run }: Pick<Cluster, 'run'>): Promise<Pod[]> {
  const { out } = await run('kubectl -n daypass get pods -l app=daypass -o json');
  const { items } = JSON.parse(out) as { readonly items: readonly PodObject[] };
  return items.map(({ metadata, spec, status }) => ({
    name: metadata.name,
    uid: metadata.uid,
    node: spec.nodeName ?? '',
    image: spec.containers[0]?.image ?? '',
    revision: metadata.labels['controller-revision-hash'] ?? '',
    isReady: status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false,
    isTerminating: metadata.deletionTimestamp !== undefined,
    initContainers: (spec.initContainers ?? []).map(({ args = [] }) => args.join(' ')).join(),
  }));
}

/** Waits for so many pods, all ready and of the current revision. @returns them */
export async function untilReady(cluster: Cluster, count: number): Promise<Pod[]> {
  let pods: Pod[] = [];
  await until(`${count} pods are ready`, async () => {
    pods = await podsOf(cluster);
    const revision = await read(cluster, 'statefulset daypass', '.status.updateRevision');
    return pods.length === count && pods.every((pod) => pod.isReady && !pod.isTerminating && pod.revision === revision);
  });
  return pods;
}

/** @param path a JSONPath, such as `.spec.replicas` */
export async function read({ run }: Pick<Cluster, 'run'>, what: string, path: string): Promise<string> {
  return (await run(`kubectl -n daypass get ${what} -o jsonpath='{${path}}'`)).out;
}

/** Sets the number of pods as the autoscaler does, and waits for them. */
export async function scaleTo(cluster: Cluster, count: number): Promise<Pod[]> {
  await cluster.run(`kubectl -n daypass scale statefulset daypass --replicas=${count}`);
  return untilReady(cluster, count);
}

export const uidsOf = (pods: readonly Pod[]): string[] => pods.map(({ uid }) => uid).toSorted();

/** Numbers of pods that were asked for, one after the other. */
export function watchReplicas({ shell }: Cluster): Promise<Watch> {
  const set = ['statefulset', 'daypass', '--watch'];
  return shell.watch('-n', 'daypass', 'get', ...set, '-o', String.raw`jsonpath={.spec.replicas}{"\n"}`);
}

/** How many pods were ready, from now on. */
export async function watchPods({ shell }: Cluster): Promise<{ least(): Promise<number> }> {
  const ready = '{.status.conditions[?(@.type=="Ready")].status}';
  const line = String.raw`{.metadata.name}{","}{.metadata.deletionTimestamp}{","}${ready}{"\n"}`;
  const pods = ['pods', '-l', 'app=daypass'];
  const { out } = await shell.run(`kubectl -n daypass get ${pods.join(' ')} -o name`);
  const watch = await shell.watch('-n', 'daypass', 'get', ...pods, '--watch', '-o', `jsonpath=${line}`);
  return { least: async () => leastReady(await watch.stop(), out.trim().split('\n').length) };
}

/** @param lines name, time of its deletion, readiness: of the pods that are there, then of each change */
function leastReady(lines: readonly string[], count: number): number {
  const ready = new Set<string>();
  let least = count;
  for (const [index, line] of lines.entries()) {
    const [name = '', deletion, isReady] = line.split(',');
    if (deletion === '' && isReady === 'True') ready.add(name);
    else ready.delete(name);
    if (index >= count - 1) least = Math.min(least, ready.size);
  }
  return least;
}

/** Of the pods behind the service, `true` or `false` each. */
export const endpointsOf = (cluster: Cluster): Promise<string> =>
  read(cluster, 'endpointslices -l kubernetes.io/service-name=daypass', '.items[*].endpoints[*].conditions.ready');
