import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import { testCertificate, testKey } from './tls-upstream.ts';

/** If the program is missing, no test of a cluster runs. */
export const hasRedisServer = spawnSync('redis-server', ['--version']).error === undefined;

const slots = 16_384;
const timeoutMs = 30_000; // for a node to start, and for all nodes to agree
const startAttempts = 5; // each uses different ports

export interface ClusterNode {
  readonly port: number;
  readonly admin: Redis;
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void; // a stopped process accepts connections but never responds
}

/** The primaries and, on request, replicas of the first. */
export interface RedisCluster extends AsyncDisposable {
  readonly url: string;
  readonly nodes: readonly ClusterNode[];
  readonly replicas: readonly ClusterNode[];
}

/**
 * Starts primaries that share the slots evenly. If one is away, its keys are unavailable; the others respond.
 *
 * @param isEncrypted use TLS with the name localhost, for which the tests' certificate is valid
 */
export async function startRedisCluster({
  primaries = 3,
  replicas = 0,
  isEncrypted = false,
} = {}): Promise<RedisCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'daypass-cluster-'));
  const children: ChildProcess[] = [];
  const certificate = join(folder, 'certificate.pem');
  const key = join(folder, 'key.pem');
  await writeFile(certificate, testCertificate);
  await writeFile(key, testKey);
  /** @returns undefined if another process took one of the ports in the meantime, so that the server ended */
  const tryToStart = async (): Promise<ClusterNode | undefined> => {
    const port = await freePort();
    const settings = `port ${port}
bind 127.0.0.1
save ""
appendonly no
dir ${folder}
cluster-enabled yes
cluster-config-file ${port}.conf
cluster-node-timeout 2000
cluster-port ${await freePort()}
cluster-require-full-coverage no
`;
    const encryption = `tls-port ${await freePort()}
tls-cluster yes
tls-auth-clients no
tls-cert-file ${certificate}
tls-key-file ${key}
tls-ca-cert-file ${certificate}
cluster-announce-hostname localhost
cluster-preferred-endpoint-type hostname
`;
    const child = spawn('redis-server', ['-'], { stdio: ['pipe', 'ignore', 'ignore'] });
    child.stdin.end(settings + (isEncrypted ? encryption : ''));
    children.push(child);
    const admin = new Redis({ host: '127.0.0.1', port, lazyConnect: true, retryStrategy: () => 20 });
    admin.on('error', () => undefined);
    const hasEnded = () => child.exitCode !== null;
    await waitUntil(async () => hasEnded() || (await Promise.race([admin.ping(), once(child, 'exit')])) === 'PONG');
    if (!hasEnded()) return { port, admin, signal: (signal) => void child.kill(signal) };
    admin.disconnect();
    return undefined;
  };
  const start = async (): Promise<ClusterNode> => {
    for (let attempt = 0; attempt < startAttempts; attempt++) {
      const node = await tryToStart();
      if (node !== undefined) return node;
    }
    throw new Error(`redis-server ended at once, ${startAttempts} times`);
  };
  const all = await Promise.all(Array.from({ length: primaries + replicas }, start));
  const nodes = all.slice(0, primaries);
  const [first] = nodes as [ClusterNode];
  for (const [index, { admin }] of nodes.entries()) {
    const [from, to] = [index, index + 1].map((part) => Math.round((slots * part) / nodes.length));
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String((to ?? 0) - 1));
    await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
  }
  for (const { admin, port } of all) {
    if (admin === first.admin) continue;
    const bus = (await admin.config('GET', 'cluster-port')) as string[];
    await first.admin.call('CLUSTER', 'MEET', '127.0.0.1', String(port), String(bus[1]));
  }
  const isKnownTo = async ({ admin }: ClusterNode) => {
    const info = String(await admin.call('CLUSTER', 'INFO'));
    return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${all.length}`);
  };
  await waitUntil(async () => (await Promise.all(all.map(isKnownTo))).every(Boolean));
  const tlsPorts = isEncrypted && (await Promise.all(nodes.map(({ admin }) => admin.config('GET', 'tls-port'))));
  const id = String(await first.admin.call('CLUSTER', 'MYID'));
  for (const { admin } of all.slice(primaries)) {
    await waitUntil(async () => (await admin.call('CLUSTER', 'REPLICATE', id)) === 'OK');
    await waitUntil(async () => (await admin.info('replication')).includes('master_link_status:up'));
  }
  return {
    url: tlsPorts
      ? `rediss-cluster://${tlsPorts.map((answer) => `localhost:${(answer as string[])[1]}`).join()}?ca=${certificate}`
      : `redis-cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join()}`,
    nodes,
    replicas: all.slice(primaries),
    async [Symbol.asyncDispose]() {
      for (const { admin } of all) admin.disconnect();
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > end) throw new Error('the Redis Cluster of the tests did not start');
    await setTimeout(20);
  }
}
