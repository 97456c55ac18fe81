import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { Gateway } from '#core/process/app.ts';
import { createLogger } from '#core/platform/logger.ts';
import { warnOfPooler } from '#core/platform/database/pooler.ts';
import { startDemoUpstream } from '../../../../plugins/demo/server.ts';
import { createBareDatabase, dropDatabase, silentLog } from '../../../support/database.ts';
import { freePort } from '../../../support/free-port.ts';
import { createGatewayFolder } from '../../../support/gateway-home.ts';
import { yamlFor } from '../../../support/gateway.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const isInstalled = spawnSync('pgbouncer', ['--version']).error === undefined;
/** PgBouncer refuses to run as root. */
const user = process.getuid?.() === 0 ? ['--user', 'nobody'] : [];

let folder: string;
let pooler: ChildProcess;
let directUrl: string;
let pooledUrl: string;
const role = `daypass_role_${randomBytes(4).toString('hex')}`;

async function asSuperuser(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

describe.skipIf(!isInstalled)('PgBouncer in transaction mode, for a role that is no superuser', () => {
  beforeAll(async () => {
    // Empty: the role migrates it as well.
    const asAdmin = await createBareDatabase('template0');
    const name = new URL(asAdmin).pathname.slice(1);
    await asSuperuser(
      inject('postgresUrl'),
      `CREATE ROLE ${role} LOGIN PASSWORD 'secret-of-role' NOSUPERUSER`,
      `ALTER DATABASE ${name} OWNER TO ${role}`,
    );
    const direct = new URL(asAdmin);
    Object.assign(direct, { username: role, password: 'secret-of-role' });
    directUrl = direct.href;
    const port = await freePort();
    folder = await mkdtemp(join(tmpdir(), 'daypass-pgbouncer-'));
    await chmod(folder, 0o755);
    const { hostname, port: of } = direct;
    await writeFile(
      join(folder, 'pgbouncer.ini'),
      `[databases]\n${name} = host=${hostname} port=${of} user=${role} password=secret-of-role\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 4\nunix_socket_dir =\n`,
    );
    pooler = spawn('pgbouncer', [...user, join(folder, 'pgbouncer.ini')], { stdio: 'ignore' });
    const pooled = new URL(directUrl);
    Object.assign(pooled, { hostname: '127.0.0.1', port: String(port) });
    pooledUrl = pooled.href;
    await vi.waitFor(
      async () => {
        const socket = connect(port, '127.0.0.1');
        await once(socket, 'connect');
        socket.destroy();
      },
      { timeout: 20_000, interval: 50 },
    );
  });
  afterAll(async () => {
    pooler.kill('SIGINT');
    await once(pooler, 'exit');
    await rm(folder, { recursive: true, force: true });
    await dropDatabase(directUrl);
    await asSuperuser(inject('postgresUrl'), `DROP ROLE ${role}`);
  });

  it('is noticed by its process ids, and PostgreSQL itself is not taken for one', async () => {
    const lines: string[] = [];
    const log = createLogger((line) => lines.push(line));
    await warnOfPooler(directUrl, log);
    expect(lines).toEqual([]);
    await warnOfPooler(pooledUrl, log);
    expect(lines).toEqual([expect.stringContaining('set it to the URL of PostgreSQL itself')]);
  });

  it('serves a gateway whose sessions use DATABASE_DIRECT_URL: it migrates, listens, runs jobs and records', async () => {
    await using made = new AsyncDisposableStack();
    const upstream = made.use(await startDemoUpstream({ delayFactor: 0 }));
    const home = await createGatewayFolder(yamlFor(upstream.baseUrl));
    made.defer(() => rm(home.folder, { recursive: true, force: true }));
    const environment = { DATABASE_URL: pooledUrl, DATABASE_DIRECT_URL: directUrl };
    const gateway = await Gateway.start({ file: home.file, environment, log: silentLog });
    made.defer(() => gateway.stop(AbortSignal.abort()));
    const { database } = gateway.host;
    const period = { days: 1, reason: 'grant' } as const;
    const { key, accountId } = await createAccount(database, 'dp', { name: 'Test', period });
    const ask = async () =>
      (await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await ask()).toBe(200);
    // The key is cached now: only a notification tells the gateway.
    await database.query('UPDATE account SET blocked_at = now() WHERE id = ?', [accountId]);
    await vi.waitFor(async () => expect(await ask()).not.toBe(200), { timeout: 20_000, interval: 50 });
    await vi.waitFor(
      async () => {
        const [row] = await database.query<{ count: number }>('SELECT count(*)::int AS count FROM request_log');
        expect(row?.count).toBeGreaterThan(1);
      },
      { timeout: 20_000, interval: 50 },
    );
    const users = await database.query<{ usename: string; rolsuper: boolean }>(
      'SELECT DISTINCT usename, rolsuper FROM pg_stat_activity JOIN pg_roles ON rolname = usename WHERE datname = current_database()',
    );
    expect(users).toEqual([{ usename: role, rolsuper: false }]);
    await expect(gateway.host.jobs.state()).resolves.toMatchObject({ failed: [] });
  });
});
