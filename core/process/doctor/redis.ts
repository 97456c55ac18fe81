import type { Diagnosis } from '#core/gateway/diagnosis/diagnosis.ts';
import { failed, type Finding, ok, skipped, warning } from '#core/gateway/diagnosis/finding.ts';
import { explainNetworkError } from '#core/gateway/diagnosis/network.ts';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';

const timeout = 5_000; // ms

/** Checks Redis by each URL that is set: whether it takes commands, and keeps the keys that jobs need. */
export function redisDiagnosis(url: string | undefined, queueUrl: string | undefined): Diagnosis {
  return {
    name: 'redis',
    checks: () => [
      {
        subject: 'REDIS_URL',
        run: async () =>
          url === undefined
            ? skipped('not set: one instance needs none')
            : check(url, 'REDIS_URL', queueUrl === undefined),
      },
      ...(queueUrl === undefined
        ? []
        : [{ subject: 'REDIS_QUEUE_URL', run: () => check(queueUrl, 'REDIS_QUEUE_URL', true) }]),
    ],
  };
}

/** @param hasJobs true if this Redis holds jobs, which must not be evicted */
async function check(url: string, variable: string, hasJobs: boolean): Promise<Finding> {
  const { clusterSlots, readInfo } = await import('#core/platform/shared/redis-client.ts');
  try {
    const { servers, unserved } = await readInfo(url, timeout);
    if (unserved > 0)
      return failed(
        `${unserved} of ${clusterSlots} slots of the Redis Cluster have no node`,
        'Repair it: redis-cli --cluster fix HOST:PORT.',
      );
    const { readEvictionPolicy: evictionPolicy } = await import('#core/platform/jobs/eviction.ts');
    if (servers.length === 1 && !url.includes('-cluster:') && isClusterNode(servers[0] ?? ''))
      return failed('it is a node of a Redis Cluster, whose URL begins with redis-cluster://', schemeAdvice(variable));
    const findings = servers.map((info) => describeServer(info, variable, hasJobs ? evictionPolicy(info) : undefined));
    const worst = findings.find(({ state }) => state === 'failed') ?? findings.find(({ state }) => state === 'warning');
    if (worst !== undefined) return worst;
    const [first = ok('')] = findings;
    return servers.length === 1 ? first : { ...first, text: `${first.text}, a cluster of ${servers.length} primaries` };
  } catch (error) {
    return explain(error, variable, url);
  }
}

function schemeAdvice(variable: string): string {
  return `Correct the scheme of ${variable}.`;
}

function explain(error: unknown, variable: string, url: string): Finding {
  const reason = describeConnectionError(error);
  if (reason === 'authentication failed')
    return failed(reason, `Correct user and password in ${variable}, or the ACL of that user.`);
  if (reason.includes('URL begins with')) return failed(reason, schemeAdvice(variable));
  // The server states the reason and closes the connection, which the client reports as lost.
  if (reason === 'connection lost' && !url.includes('@'))
    return failed(
      'the connection was closed',
      `Redis without a password refuses other machines (protected mode): set one, and put it into ${variable}. Else a proxy or firewall may cut it.`,
    );
  return explainNetworkError(error);
}

/**
 * Returns true for a node of a cluster.
 *
 * @param info the answer to INFO
 */
export function isClusterNode(info: string): boolean {
  // Redis also reports redis_mode, and Valkey server_mode.
  return fieldOf(info, 'cluster_enabled') === '1';
}

/**
 * @param info the answer to INFO
 * @param policy eviction policy of a server that evicts keys
 */
export function describeServer(info: string, variable: string, policy: string | undefined): Finding {
  const version = versionOf(info);
  if (fieldOf(info, 'role') === 'slave')
    return failed(`${version} is a replica`, `Point ${variable} to the primary server.`);
  if (policy !== undefined)
    return warning(
      `${version} evicts keys (maxmemory-policy ${policy})`,
      'Set maxmemory-policy to noeviction: jobs and limits vanish otherwise when its memory is full.',
    );
  return ok(version);
}

/** The server's version. Valkey and Dragonfly also report the version of the Redis that they are compatible with. */
function versionOf(info: string): string {
  const names = { valkey_version: 'Valkey', dragonfly_version: 'Dragonfly', redis_version: 'Redis' };
  for (const [field, name] of Object.entries(names)) {
    const version = fieldOf(info, field);
    if (version !== undefined) return `${name} ${version}`;
  }
  return 'Redis of an unknown version';
}

function fieldOf(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
}
