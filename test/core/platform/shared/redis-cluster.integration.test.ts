import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { computeHashSlot } from '#core/platform/shared/redis-cluster.ts';
import { SharedUnavailable } from '#core/platform/shared/shared.ts';
import { createRedisDiagnosis } from '#core/process/doctor/redis.ts';
import {
  type ClusterNode,
  hasRedisServer,
  type RedisCluster,
  startRedisCluster,
} from '../../../support/redis-cluster.ts';
import { leastAcl, limits, openRedis, useAll } from './fixture.ts';

const slots = 16_384;

/** A key that the primary with this number has. */
function keyOn(number: number): string {
  for (let tries = 0; ; tries++)
    if (Math.floor((computeHashSlot(`{key ${tries}}`) * 3) / slots) === number) return `key ${tries}`;
}

async function diagnose(url: string): Promise<unknown> {
  const [check] = createRedisDiagnosis(url, undefined).checks({} as never);
  return check?.run({} as never);
}

describe.skipIf(!hasRedisServer)('a Redis Cluster', () => {
  vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster({ replicas: 1 });
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('has all that a gateway needs, for a user who has only the documented rights', async () => {
    for (const { admin } of cluster.nodes)
      await admin.call('ACL', 'SETUSER', 'daypass', 'on', '>secret', ...leastAcl.split(' '));
    await useAll(cluster.url.replace('//', '//daypass:secret@'));
    const keys = await Promise.all(cluster.nodes.map(({ admin }) => admin.keys('gw:{jobs}*')));
    expect(keys.filter(({ length }) => length > 0)).toHaveLength(1);
  });

  it('over TLS is known by the names of its nodes, and has all that a gateway needs', async () => {
    await using encrypted = await startRedisCluster({ primaries: 1, isEncrypted: true });
    await useAll(encrypted.url);
  });

  it('is found by any of its nodes, and diagnosed', async () => {
    const [first, second] = cluster.nodes as [ClusterNode, ClusterNode];
    expect(await diagnose(`redis-cluster://127.0.0.1:${second.port}`)).toMatchObject({
      state: 'ok',
      text: expect.stringMatching(/^\w+ \S+, a cluster of 3 primaries$/) as string,
    });
    expect(await diagnose(`redis://127.0.0.1:${first.port}`)).toMatchObject({
      state: 'failed',
      text: expect.stringContaining('redis-cluster://') as string,
    });
  });

  it('keeps what it has while a slot moves to another node under load', async () => {
    const key = keyOn(2);
    const [, target, source] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode];
    await using shared = await openRedis(cluster.url);
    const many = limits({ limit: 1_000, burst: 1_000, period: 86_400 });
    await shared.limiter.take(key, many);
    const slot = String(computeHashSlot(`{${key}}`));
    const [from, to] = await Promise.all(
      [source, target].map(async ({ admin }) => String(await admin.cluster('MYID'))),
    );
    await target.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(from));
    await source.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(to));
    const names = (await source.admin.call('CLUSTER', 'GETKEYSINSLOT', slot, '100')) as string[];
    await source.admin.migrate('127.0.0.1', target.port, '', 0, 5_000, 'KEYS', ...names);
    const during = await shared.limiter.take(key, many);
    for (const { admin } of [target, source]) await admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(to));
    await vi.waitFor(() => shared.limiter.take(key, many), { timeout: 15_000 });
    expect(during.remaining).toBe(998);
    expect((await shared.limiter.take(key, many)).remaining).toBeLessThanOrEqual(996);
  });

  it('that loses a node is without shared state for the keys of that node alone, until a replica takes its place', async () => {
    await using shared = await openRedis(cluster.url);
    await using other = await openRedis(cluster.url);
    const heard = vi.fn<(message: string) => void>();
    await other.events.subscribe('channel', heard);
    const [lost, kept] = [keyOn(0), keyOn(1)];
    const take = (key: string) => shared.limiter.take(key, limits({}));
    await Promise.all([take(lost), take(kept)]);
    // Instances of the tests before may have been unable to leave.
    const expectTwoInstances = async () => {
      await shared.ping();
      expect(shared.limiter.instances).toBe(2);
    };
    await vi.waitFor(expectTwoInstances, { timeout: 20_000 });
    cluster.nodes[0]?.signal('SIGSTOP');
    const since = performance.now();
    await expect(take(lost)).rejects.toBeInstanceOf(SharedUnavailable);
    expect(performance.now() - since).toBeLessThan(5_000);
    await expect(take(lost)).rejects.toBeInstanceOf(SharedUnavailable);
    await expect(shared.ping()).rejects.toBeInstanceOf(SharedUnavailable);
    expect((await take(kept)).refusedBy).toBeUndefined();
    await vi.waitFor(() => take(lost), { timeout: 40_000 });
    await vi.waitFor(() => shared.ping(), { timeout: 20_000 });
    await vi.waitFor(
      async () => {
        await shared.events.publish('channel', 'again');
        expect(heard).toHaveBeenCalledWith('again');
      },
      { timeout: 40_000 },
    );
    await expectTwoInstances();
  });
});
