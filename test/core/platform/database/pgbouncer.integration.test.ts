import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import pg from 'pg';
import { inject } from 'vitest';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { findPooler, warnAboutRoleSettings } from '#core/platform/database/pooler.ts';
import { openJobs } from '#core/platform/jobs/open.ts';
import { createLogger, type Logger } from '#core/platform/logger.ts';
import { Gateway } from '#core/process/app.ts';
import { coreEntities } from '#core/process/entities.ts';
import { startAnsweringUpstream } from '../../../support/answering-upstream.ts';
import { createBareDatabase, dropDatabase, silentLog } from '../../../support/database.ts';
import { createGatewayFolder } from '../../../support/gateway-home.ts';
import { yamlFor } from '../../../support/gateway.ts';
import { hasPgBouncer, PgBouncers } from '../../../support/pgbouncer.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const modes = ['session', 'transaction', 'statement'] as const;

let poolers: PgBouncers;
let directUrl: string;
/** By mode. */
const urls = new Map<string, string>();
let pooledUrl: string;
const role = `daypass_role_${randomBytes(4).toString('hex')}`;

async function asSuperuser(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

const open = (url: string, more: { directUrl?: string; isShared?: boolean; readUrl?: string; log?: Logger } = {}) =>
  openDatabase({
    url,
    dataFolder: tmpdir(),
    log: silentLog,
    mode: 'serve',
    isShared: false,
    entities: coreEntities,
    ...more,
  });

describe.skipIf(!hasPgBouncer)('PgBouncer, for a role that is no superuser', () => {
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
    poolers = await PgBouncers.open(directUrl);
    for (const mode of modes) urls.set(mode, await poolers.start(mode));
    pooledUrl = urls.get('transaction') ?? '';
  });
  afterAll(async () => {
    await poolers[Symbol.asyncDispose]();
    await dropDatabase(directUrl);
    await asSuperuser(inject('postgresUrl'), `DROP ROLE ${role}`);
  });

  it('is noticed with its mode, and PostgreSQL itself is not taken for one', async () => {
    expect(await findPooler(directUrl)).toBeUndefined();
    for (const mode of modes) expect(await findPooler(urls.get(mode) ?? '')).toBe(mode);
  });

  it('in session mode needs no other URL: it migrates, listens and runs jobs, whatever the URL has as options', async () => {
    const url = urls.get('session') ?? '';
    await using database = await open(url, { directUrl: url });
    const heard = Promise.withResolvers<string>();
    await database.notifications.listen('test', heard.resolve, () => undefined);
    await database.query("SELECT pg_notify('test', 'hello')");
    expect(await heard.promise).toBe('hello');
    expect(await database.query('SHOW statement_timeout')).toEqual([{ statement_timeout: '10s' }]);
    const ran = Promise.withResolvers<void>();
    await using jobs = openJobs({
      databaseUrl: database.url,
      redisUrl: undefined,
      definitions: new Map([['once', { name: 'once', description: 'Once.', run: async () => ran.resolve() }]]),
      host: () => undefined,
      log: silentLog,
    });
    jobs.work();
    await vi.waitFor(() => jobs.add('once', {}), { timeout: 20_000 });
    await ran.promise;
  });

  it.each([
    [
      'statement mode',
      () => ({ url: urls.get('statement') ?? '' }),
      /DATABASE_URL leads to a connection pooler in statement mode/,
    ],
    [
      'transaction mode, with jobs and no other URL',
      () => ({ url: pooledUrl }),
      /DATABASE_URL leads to .* in transaction mode, .*DATABASE_DIRECT_URL/,
    ],
    [
      'transaction mode by the URL for sessions',
      () => ({ url: urls.get('session') ?? '', directUrl: pooledUrl }),
      /DATABASE_DIRECT_URL leads to a connection pooler in transaction mode/,
    ],
  ])('is refused in %s, with its name', async (_mode, given, message) => {
    const { url, ...more } = given();
    const refusal = await open(url, more).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: 'StartRefused', exitCode: 78, message: expect.stringMatching(message) });
  });

  it('in transaction mode, with Redis and no other URL, delivers nothing, and that is known', async () => {
    const lines: string[] = [];
    await using database = await open(pooledUrl, { isShared: true, log: createLogger((line) => lines.push(line)) });
    await database.notifications.listen(
      'test',
      () => undefined,
      () => undefined,
    );
    expect(database.notifications.isConnected).toBe(false);
    expect(lines.join('')).toContain('set DATABASE_DIRECT_URL to the URL of PostgreSQL itself');
  });

  it('before a replica lets nothing be written there', async () => {
    await using database = await open(pooledUrl, { directUrl, readUrl: pooledUrl });
    expect(await database.records.query('SHOW transaction_read_only')).toEqual([{ transaction_read_only: 'on' }]);
    expect(await database.query('SHOW transaction_read_only')).toEqual([{ transaction_read_only: 'off' }]);
  });

  it('is named as what keeps the gateway from correcting the settings of its role', async () => {
    const lines: string[] = [];
    await asSuperuser(inject('postgresUrl'), `ALTER ROLE ${role} SET DateStyle = 'German, DMY'`);
    try {
      await warnAboutRoleSettings(
        directUrl,
        createLogger((line) => lines.push(line)),
      );
    } finally {
      await asSuperuser(inject('postgresUrl'), `ALTER ROLE ${role} RESET DateStyle`);
    }
    expect(lines).toEqual([expect.stringContaining(`ALTER ROLE "${role}" SET datestyle = 'ISO'`)]);
  });

  it('serves a gateway whose sessions use DATABASE_DIRECT_URL: it migrates, listens, runs jobs and records', async () => {
    await using made = new AsyncDisposableStack();
    const upstream = made.use(await startAnsweringUpstream());
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
