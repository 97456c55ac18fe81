import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from '../support/free-port.ts';
import type { InstalledProgram } from '../support/install-program.ts';
import { runProgram } from '../support/run-program.ts';
import type { ClusterPrograms } from './install.ts';
import { openShell, type Shell, until } from './shell.ts';

/** Seconds that a pod stays on a node that is not ready. Kubernetes waits for 300. */
export const toleration = 20;

/** Ms. Compiled programs start within a second, unless others compute as well. */
const longestStart = 120_000;

/** A real API server with its controllers and scheduler, on 127.0.0.1. It has no machines. */
export interface ControlPlane extends AsyncDisposable {
  readonly shell: Shell;
  /** Path of the clients' configuration. */
  readonly config: string;
}

/** @throws Error with what a server says, when it does not start */
export async function startControlPlane(programs: ClusterPrograms, kubectl: InstalledProgram): Promise<ControlPlane> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'daypass-kubernetes-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const start = async (program: InstalledProgram, words: readonly string[], port: number) =>
    void opened.use(await runProgram(program, words, port, { HOME: folder }, longestStart));
  const client = await freePort();
  await start(programs.etcd, etcdWords(folder, client, await freePort()), client);
  const port = await freePort();
  const config = await writeFiles(folder, port);
  await start(programs.apiServer, apiServerWords(folder, client, port), port);
  const shell = openShell(kubectl.program, config);
  await until('the API server is ready', async () => (await shell.run('kubectl get --raw /readyz')).out === 'ok');
  const controllers = await freePort();
  await start(
    programs.controllerManager,
    [...workerWords(folder, config, controllers), ...controllerWords(folder)],
    controllers,
  );
  const scheduler = await freePort();
  await start(programs.scheduler, workerWords(folder, config, scheduler), scheduler);
  const all = opened.move();
  return { shell, config, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

function etcdWords(folder: string, client: number, peer: number): string[] {
  const [own, other] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    '--unsafe-no-fsync',
    '--log-level=error',
    `--listen-client-urls=${own}`,
    `--advertise-client-urls=${own}`,
    `--listen-peer-urls=${other}`,
    `--initial-advertise-peer-urls=${other}`,
    `--initial-cluster=default=${other}`,
  ];
}

function apiServerWords(folder: string, etcd: number, port: number): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    `--secure-port=${port}`,
    `--cert-dir=${join(folder, 'certificates')}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${join(folder, 'accounts.pub')}`,
    `--service-account-signing-key-file=${join(folder, 'accounts.key')}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    `--default-not-ready-toleration-seconds=${toleration}`,
    `--default-unreachable-toleration-seconds=${toleration}`,
  ];
}

/** Of the controller manager and the scheduler. */
function workerWords(folder: string, config: string, port: number): string[] {
  return [
    `--kubeconfig=${config}`,
    `--authentication-kubeconfig=${config}`,
    `--authorization-kubeconfig=${config}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${join(folder, `certificates-${port}`)}`,
  ];
}

function controllerWords(folder: string): string[] {
  return [
    `--service-account-private-key-file=${join(folder, 'accounts.key')}`,
    '--horizontal-pod-autoscaler-sync-period=2s',
  ];
}

/** Writes keys, the token of an administrator and the configuration of clients. @returns the path of the latter */
async function writeFiles(folder: string, port: number): Promise<string> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  await writeFile(join(folder, 'accounts.key'), privateKey, { mode: 0o600 });
  await writeFile(join(folder, 'accounts.pub'), publicKey);
  await writeFile(join(folder, 'tokens.csv'), 'trial,admin,admin,system:masters\n', { mode: 0o600 });
  const config = join(folder, 'config');
  // The server makes its certificate when it starts.
  const cluster = { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true };
  const text = stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'trial', cluster }],
    users: [{ name: 'admin', user: { token: 'trial' } }],
    contexts: [{ name: 'trial', context: { cluster: 'trial', user: 'admin' } }],
    'current-context': 'trial',
  });
  await writeFile(config, text, { mode: 0o600 });
  return config;
}
