import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';
import { readEvictionPolicy, warnAboutEviction } from '#core/platform/jobs/eviction.ts';
import { createLogger } from '#core/platform/logger.ts';
import { findCommandProxy } from '#core/platform/shared/redis-proxy.ts';
import { RedisShared } from '#core/platform/shared/redis.ts';
import { silentLog } from '../../../support/database.ts';
import { freePort } from '../../../support/free-port.ts';
import { redisUrl } from '../../../support/redis.ts';
import { testCertificate, testKey } from '../../../support/tls-upstream.ts';
import { leastAcl, useAll } from './fixture.ts';

let folder: string;
const running: ChildProcess[] = [];

async function start(...words: string[]): Promise<void> {
  const child = spawn('redis-server', words, { cwd: folder, stdio: 'ignore' });
  running.push(child);
}

async function answers(url: string, options = {}): Promise<void> {
  await vi.waitFor(
    async () => {
      const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, ...options });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.ping();
      } finally {
        client.disconnect();
      }
    },
    { timeout: 20_000, interval: 50 },
  );
}

describe.skipIf(redisUrl === undefined)('a Redis', () => {
  vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
  let ports: { plain: number; tls: number; sentinel: number };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'daypass-redis-'));
    ports = { plain: await freePort(), tls: await freePort(), sentinel: await freePort() };
    await writeFile(join(folder, 'certificate.pem'), testCertificate);
    await writeFile(join(folder, 'key.pem'), testKey);
    await writeFile(
      join(folder, 'users.acl'),
      `user default on nopass ~* &* +@all\nuser daypass on >secret ${leastAcl}\n`,
    );
    await writeFile(
      join(folder, 'sentinel.conf'),
      `port ${ports.sentinel}\nsentinel monitor shop 127.0.0.1 ${ports.plain} 1\n`,
    );
    await writeFile(
      join(folder, 'redis.conf'),
      `port ${ports.plain}\ntls-port ${ports.tls}\nbind 127.0.0.1\nsave ""\naclfile ${join(folder, 'users.acl')}\ntls-cert-file certificate.pem\ntls-key-file key.pem\ntls-auth-clients no\n`,
    );
    await start('redis.conf');
    await answers(`redis://127.0.0.1:${ports.plain}`);
    await start('sentinel.conf', '--sentinel');
    await answers(`redis://127.0.0.1:${ports.sentinel}`);
  });
  afterAll(async () => {
    for (const child of running) {
      child.kill();
      if (child.exitCode === null) await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  });

  it('over TLS with an authority of its own, as a user who has only the documented rights, has all that a gateway needs', async () => {
    await useAll(`rediss://daypass:secret@localhost:${ports.tls}/0?ca=${join(folder, 'certificate.pem')}`);
  });

  it('is found by its sentinels', async () => {
    await useAll(`redis-sentinel://daypass:secret@127.0.0.1:${ports.sentinel}/shop`);
  });

  it.skipIf(spawnSync('nutcracker', ['-h']).error !== undefined)(
    'behind a proxy that passes on only some commands is named as such',
    async () => {
      const port = await freePort();
      await writeFile(
        join(folder, 'nutcracker.yml'),
        `pool:\n  listen: 127.0.0.1:${port}\n  redis: true\n  servers:\n    - 127.0.0.1:${ports.plain}:1\n`,
      );
      running.push(
        spawn('nutcracker', ['-c', 'nutcracker.yml', '-s', String(await freePort())], { cwd: folder, stdio: 'ignore' }),
      );
      const url = `redis://127.0.0.1:${port}`;
      await vi.waitFor(async () => expect(await findCommandProxy(url)).toContain('twemproxy'), { timeout: 20_000 });
      expect(await findCommandProxy(`redis://127.0.0.1:${ports.plain}`)).toBeUndefined();
      await using shared = await RedisShared.open(url, silentLog);
      await vi.waitFor(
        async () => expect(describeConnectionError(await shared.ping().catch(Object))).toContain('twemproxy'),
        { timeout: 10_000 },
      );
    },
  );

  it('that evicts keys is reported for the job queue, and one that does not is not', async () => {
    const lines: string[] = [];
    const log = createLogger((line) => lines.push(line));
    const url = `redis://127.0.0.1:${ports.plain}`;
    await warnAboutEviction(url, log);
    expect(lines).toEqual([]);
    const client = new Redis(url);
    await client.config('SET', 'maxmemory', '100mb');
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await warnAboutEviction(url, log);
    await client.config('SET', 'maxmemory-policy', 'noeviction');
    expect(readEvictionPolicy(await client.info('memory'))).toBeUndefined();
    client.disconnect();
    expect(lines).toEqual([expect.stringContaining('may evict keys (maxmemory-policy allkeys-lru)')]);
  });
});
