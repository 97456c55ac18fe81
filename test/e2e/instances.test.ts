import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRequestId } from '#core/gateway/records/request-id.ts';
import { Gateway } from '#core/process/app.ts';
import { startAnsweringUpstream } from '../support/answering-upstream.ts';
import { runCommand } from '../support/command-line.ts';
import { silentLog } from '../support/database.ts';
import { createGatewayHome, type GatewayHome, yamlFor } from '../support/gateway.ts';
import { redisUrl } from '../support/redis.ts';

/*
 * Instances that share a database or find what another one has left. Where signals or the end of a process matter, they are processes:
 * lifecycle.test.ts.
 */

let upstream: Awaited<ReturnType<typeof startAnsweringUpstream>>;
let home: GatewayHome;
let instances: AsyncDisposableStack;
beforeEach(async () => {
  upstream = await startAnsweringUpstream();
  home = await createGatewayHome(yamlFor(upstream.baseUrl));
  instances = new AsyncDisposableStack();
});
afterEach(async () => {
  await instances.disposeAsync();
  await home[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** Starts an instance on the shared folder and database. @returns its URL */
async function start(environment: Record<string, string> = {}): Promise<string> {
  const variables = { DATABASE_URL: home.databaseUrl, ...environment };
  const gateway = await Gateway.start({ file: home.file, environment: variables, log: silentLog });
  instances.defer(() => gateway.stop());
  return gateway.url;
}

async function ask(url: string, key = home.key): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'test', messages: [{ role: 'user', content: 'hi' }] }),
  });
  await response.text();
  return response.status;
}

it('an instance listens before the records of a killed one are in the database', async () => {
  const count = 2_000;
  const now = Date.now();
  const lines = Array.from({ length: count }, () => {
    const row = { id: createRequestId(now), started_at: now, method: 'POST', path: '/v1/x', endpoint: 'x' };
    return `{"at":"end",${JSON.stringify({ ...row, outcome: 'answered' }).slice(1)}\n`;
  });
  await mkdir(join(home.folder, 'data', 'journal'), { recursive: true });
  await writeFile(join(home.folder, 'data', 'journal', 'dead-00000001.ndjson'), lines.join(''));
  const client = new pg.Client({ connectionString: home.databaseUrl });
  await client.connect();
  await client.query('BEGIN; LOCK TABLE request_log IN ACCESS EXCLUSIVE MODE');
  expect(await ask(await start())).toBe(200);
  await client.end();
  const inserted = async () => {
    const [row] = await home.database.query<{ count: number }>(
      "SELECT count(*)::int AS count FROM request_log WHERE path = '/v1/x'",
    );
    return row?.count;
  };
  await vi.waitFor(async () => expect(await inserted()).toBe(count), { timeout: 30_000, interval: 100 });
});

it('an old key is refused soon after a command has rotated it', async () => {
  const url = await start();
  expect(await ask(url)).toBe(200);
  const { code, out } = await runCommand(['--config', home.file, 'key', 'rotate', home.accountId, '--json'], {
    DATABASE_URL: home.databaseUrl,
  });
  expect(code).toBe(0);
  await vi.waitFor(async () => expect(await ask(url)).toBe(401), { timeout: 15_000, interval: 20 });
  const { key } = JSON.parse(out) as { key: string };
  expect(await ask(url, key)).toBe(200);
});

it('a second instance without Redis is refused, and the first one serves on', async () => {
  const first = await start();
  await expect(start()).rejects.toThrow(/Another gateway uses this database.*set REDIS_URL/);
  expect(await ask(first)).toBe(200);
});

it.skipIf(redisUrl === undefined)('two instances with one Redis share a limit exactly', async () => {
  await home.write(
    yamlFor(upstream.baseUrl).replace(
      /rate-limit: .*/,
      'rate-limit: { limit: 100, period: 86400, burst: 100, concurrent: 1000 }',
    ),
  );
  const both = [await start({ REDIS_URL: redisUrl ?? '' }), await start({ REDIS_URL: redisUrl ?? '' })] as const;
  const statuses: number[] = [];
  // Not all at once: a Redis slower than its deadline counts as down, and each instance then counts for itself.
  for (let round = 0; round < 10; round++)
    statuses.push(...(await Promise.all(Array.from({ length: 40 }, (_, index) => ask(both[index % 2 ? 1 : 0])))));
  expect(statuses.filter((status) => status === 200)).toHaveLength(100);
  expect(statuses.filter((status) => status === 429)).toHaveLength(300);
});
