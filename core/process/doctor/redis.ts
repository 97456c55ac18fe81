import type { Diagnosis, Finding } from '#core/gateway/diagnosis/diagnosis.ts';
import { explainNetworkError } from '#core/gateway/diagnosis/network.ts';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';

const timeout = 5_000; // ms

/** Redis, by each URL that is set: whether it takes commands, and keeps what jobs need. */
export function redisDiagnosis(url: string | undefined, queueUrl: string | undefined): Diagnosis {
  return {
    name: 'redis',
    checks: () => [
      {
        subject: 'REDIS_URL',
        run: async () =>
          url === undefined
            ? { state: 'skipped', text: 'not set: one instance needs none' }
            : check(url, 'REDIS_URL', queueUrl === undefined),
      },
      ...(queueUrl === undefined
        ? []
        : [{ subject: 'REDIS_QUEUE_URL', run: () => check(queueUrl, 'REDIS_QUEUE_URL', true) }]),
    ],
  };
}

/** @param hasJobs of which none may be evicted */
async function check(url: string, variable: string, hasJobs: boolean): Promise<Finding> {
  const { createRedis } = await import('#core/platform/shared/redis-client.ts');
  const client = createRedis(url, {
    lazyConnect: true,
    connectTimeout: timeout,
    commandTimeout: timeout,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let lost: unknown;
  client.on('error', (error: unknown) => (lost ??= error));
  try {
    await client.connect();
    await client.ping();
    const { evictionPolicy } = await import('#core/platform/jobs/eviction.ts');
    const info = await client.info();
    return describe(info, variable, hasJobs ? evictionPolicy(info) : undefined);
  } catch (error) {
    return explain(lost ?? error, variable);
  } finally {
    client.disconnect();
  }
}

function explain(error: unknown, variable: string): Finding {
  const reason = describeConnectionError(error);
  if (reason === 'authentication failed')
    return {
      state: 'failed',
      text: reason,
      advice: `Correct user and password in ${variable}, or the ACL of that user.`,
    };
  return explainNetworkError(error);
}

function describe(info: string, variable: string, policy: string | undefined): Finding {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const version = `Redis ${field('redis_version') ?? 'of an unknown version'}`;
  if (field('role') === 'slave')
    return { state: 'failed', text: `${version} is a replica`, advice: `Point ${variable} to the primary server.` };
  if (policy !== undefined)
    return {
      state: 'warning',
      text: `${version} evicts keys (maxmemory-policy ${policy})`,
      advice: 'Set maxmemory-policy to noeviction: jobs and limits vanish otherwise when its memory is full.',
    };
  return { state: 'ok', text: version };
}
