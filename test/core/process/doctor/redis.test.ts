import { describe, expect, it } from 'vitest';
import { describeServer, isClusterNode } from '#core/process/doctor/redis.ts';

/** Of INFO: what these servers say of themselves. */
const valkey = [
  '# Server',
  'redis_version:7.2.4',
  'server_name:valkey',
  'valkey_version:9.1.2',
  'server_mode:cluster',
  '# Replication',
  'role:master',
  '# Cluster',
  'cluster_enabled:1',
  '',
].join('\r\n');
const redis = valkey.replace(/redis_version[^#]*server_mode/, 'redis_version:7.0.15\r\nredis_mode');

describe('Valkey', () => {
  it('is named by its own version, as Redis is', () => {
    expect(describeServer(valkey, 'REDIS_URL', undefined)).toEqual({ state: 'ok', text: 'Valkey 9.1.2' });
    expect(describeServer(redis, 'REDIS_URL', undefined)).toEqual({ state: 'ok', text: 'Redis 7.0.15' });
    expect(describeServer('', 'REDIS_URL', undefined).text).toBe('Redis of an unknown version');
    expect(describeServer(valkey.replace('role:master', 'role:slave'), 'REDIS_URL', undefined)).toMatchObject({
      state: 'failed',
      text: 'Valkey 9.1.2 is a replica',
    });
  });

  it('that evicts keys is a warning where jobs are in it', () => {
    expect(describeServer(valkey, 'REDIS_URL', 'allkeys-lru')).toMatchObject({
      state: 'warning',
      text: 'Valkey 9.1.2 evicts keys (maxmemory-policy allkeys-lru)',
    });
    // A replica takes no commands at all, which is worse.
    expect(describeServer(valkey.replace('role:master', 'role:slave'), 'REDIS_URL', 'allkeys-lru').state).toBe(
      'failed',
    );
  });

  it('is known as a node of a cluster, as Redis is', () => {
    expect([valkey, redis].map(isClusterNode)).toEqual([true, true]);
    const alone = 'cluster_enabled:0';
    expect([valkey, redis].map((info) => isClusterNode(info.replace('cluster_enabled:1', alone)))).toEqual([
      false,
      false,
    ]);
  });
});
