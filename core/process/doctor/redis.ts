import type { Diagnosis } from '#core/gateway/diagnosis/diagnosis.ts';
import { failed, type Finding, ok, skipped, warning } from '#core/gateway/diagnosis/finding.ts';
import { explainNetworkError } from '#core/gateway/diagnosis/network.ts';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';

const timeoutMs = 5_000;

/** Creates checks of Redis at each URL that is set. Redis must accept commands and must not evict the keys of jobs. */
export function createRedisDiagnosis(url: string | undefined, queueUrl: string | undefined): Diagnosis {
  return {
    name: 'redis',
    checks: () => [
      {
        subject: 'REDIS_URL',
        run: async () =>
          url === undefined
            ? skipped('not set: a single instance does not need Redis')
            : checkRedis(url, 'REDIS_URL', queueUrl === undefined),
      },
      ...(queueUrl === undefined
        ? []
        : [{ subject: 'REDIS_QUEUE_URL', run: () => checkRedis(queueUrl, 'REDIS_QUEUE_URL', true) }]),
    ],
  };
}

async function checkRedis(url: string, variable: string, hasJobs: boolean): Promise<Finding> {
  const { clusterSlots, readInfo } = await import('#core/platform/shared/redis-client.ts');
  try {
    const { servers, unserved } = await readInfo(url, timeoutMs);
    if (unserved > 0)
      return failed(
        `${unserved} of ${clusterSlots} slots of the Redis Cluster have no node`,
        'Repair it: redis-cli --cluster fix HOST:PORT.',
      );
    const { readEvictionPolicy } = await import('#core/platform/jobs/eviction.ts');
    if (servers.length === 1 && !url.includes('-cluster:') && isClusterNode(servers[0] ?? ''))
      return failed(
        'it is a node of a Redis Cluster, whose URL begins with redis-cluster://',
        formatSchemeAdvice(variable),
      );
    const findings = servers.map((info) =>
      describeServer(info, variable, hasJobs ? readEvictionPolicy(info) : undefined),
    );
    const worst = findings.find(({ state }) => state === 'failed') ?? findings.find(({ state }) => state === 'warning');
    if (worst !== undefined) return worst;
    const [first = ok('')] = findings;
    return servers.length === 1 ? first : { ...first, text: `${first.text}, a cluster of ${servers.length} primaries` };
  } catch (error) {
    return explainRedisError(error, variable, url);
  }
}

function formatSchemeAdvice(variable: string): string {
  return `Correct the scheme of ${variable}.`;
}

function explainRedisError(error: unknown, variable: string, url: string): Finding {
  const reason = describeConnectionError(error);
  if (reason === 'authentication failed')
    return failed(reason, `Correct user and password in ${variable}, or the ACL of that user.`);
  if (reason.includes('URL begins with')) return failed(reason, formatSchemeAdvice(variable));
  // The server states the reason and closes the connection, but the client reports only that the connection was lost.
  if (reason === 'connection lost' && !url.includes('@'))
    return failed(
      'the connection was closed',
      `Redis without a password refuses other machines (protected mode): set one, and put it into ${variable}. Otherwise, a proxy or firewall may close it.`,
    );
  return explainNetworkError(error);
}

/** @param info response to INFO */
export function isClusterNode(info: string): boolean {
  // Does not read `redis_mode`, which Valkey calls `server_mode`.
  return readField(info, 'cluster_enabled') === '1';
}

/**
 * @param info response to INFO
 * @param policy eviction policy, if the server evicts keys
 */
export function describeServer(info: string, variable: string, policy: string | undefined): Finding {
  const version = readVersion(info);
  if (readField(info, 'role') === 'slave')
    return failed(`${version} is a replica`, `Point ${variable} to the primary server.`);
  if (policy !== undefined)
    return warning(
      `${version} evicts keys (maxmemory-policy ${policy})`,
      'Set maxmemory-policy to noeviction: otherwise, jobs and limits vanish when its memory is full.',
    );
  return ok(version);
}

function readVersion(info: string): string {
  // Valkey and Dragonfly also report the Redis version that they are compatible with.
  const names = { valkey_version: 'Valkey', dragonfly_version: 'Dragonfly', redis_version: 'Redis' };
  for (const [field, name] of Object.entries(names)) {
    const version = readField(info, field);
    if (version !== undefined) return `${name} ${version}`;
  }
  return 'Redis of an unknown version';
}

function readField(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
}
