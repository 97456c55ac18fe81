import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { defineEntity, p } from '@mikro-orm/postgresql';
import pg from 'pg';
import { afterAll, afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { changeLimits } from '#core/business/accounts/account-key.ts';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { openDatabase, type OpenedDatabase } from '#core/platform/database/open.ts';
import type { PluginTables } from '#core/platform/database/tables.ts';
import { openJobs } from '#core/platform/jobs/open.ts';
import { coreEntities } from '#core/process/entities.ts';
import { createBareDatabase, dropDatabase, silentLog } from '../../../support/database.ts';
import { execute } from '../../../support/global-postgres.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Tables of a plugin, which are migrated after those of core. */
const notes: PluginTables = {
  name: 'first',
  entities: [
    defineEntity({ name: 'Note', tableName: 'first_note', properties: { id: p.integer().primary(), text: p.text() } }),
  ],
  migrations: new URL('./tables-fixture/first/', import.meta.url),
};
const roles: string[] = [];
let role: string;
/** As the superuser, and as the role. */
let adminUrl: string;
let url: string;

beforeEach(async () => {
  role = `daypass_role_${randomBytes(4).toString('hex')}`;
  roles.push(role);
  adminUrl = await createBareDatabase('template0');
  const name = new URL(adminUrl).pathname.slice(1);
  await execute(inject('postgresUrl'), `CREATE ROLE ${role} LOGIN PASSWORD 'secret' NOSUPERUSER`);
  await execute(inject('postgresUrl'), `GRANT CREATE ON DATABASE ${name} TO ${role}`);
  url = Object.assign(new URL(adminUrl), { username: role, password: 'secret' }).href;
});
afterEach(() => dropDatabase(adminUrl));
afterAll(async () => {
  for (const name of roles) await execute(inject('postgresUrl'), `DROP ROLE ${name}`);
});

const open = (given = url, tables: PluginTables[] = [notes], readUrl?: string): Promise<OpenedDatabase> =>
  openDatabase({
    url: given,
    readUrl,
    dataFolder: tmpdir(),
    log: silentLog,
    mode: 'serve',
    isShared: true,
    entities: coreEntities,
    tables,
  });

async function schemasOf(...tables: string[]): Promise<unknown[]> {
  const client = new pg.Client(adminUrl);
  await client.connect();
  const { rows } = await client.query(
    'SELECT relname AS table, relnamespace::regnamespace::text AS schema FROM pg_class WHERE relname = ANY($1) ORDER BY 1',
    [tables],
  );
  await client.end();
  return rows;
}

describe('tables of a role', () => {
  it.each([
    ['named like the role', () => role, () => `CREATE SCHEMA ${role} AUTHORIZATION ${role}`],
    [
      'that comes first in its search path',
      () => '"App-1"',
      () => `CREATE SCHEMA "App-1" AUTHORIZATION ${role}; ALTER ROLE ${role} SET search_path = "App-1", public`,
    ],
  ])('are in a schema %s, all of them', async (_where, schema, sql) => {
    for (const statement of sql().split('; ')) await execute(adminUrl, statement);
    // A start that ended after the tables of core.
    await (await open(url, []))[Symbol.asyncDispose]();
    await (await open())[Symbol.asyncDispose]();
    await using database = await open();
    await createAccount(database, 'dp', { name: 'Test', period: { days: 1, reason: 'grant' } });
    const expected = ['account', 'first_note', 'migration'].map((table) => ({ table, schema: schema() }));
    expect(await schemasOf('account', 'first_note', 'migration')).toEqual(expected);
  });

  it('stay in public where they are, although a schema comes before it now', async () => {
    await execute(adminUrl, `GRANT CREATE ON SCHEMA public TO ${role}`);
    await (await open(url, []))[Symbol.asyncDispose]();
    await execute(adminUrl, `CREATE SCHEMA ${role} AUTHORIZATION ${role}`);
    await (await open())[Symbol.asyncDispose]();
    expect(await schemasOf('account', 'first_note', 'migration')).toMatchObject(
      Array.from({ length: 3 }, () => ({ schema: 'public' })),
    );
  });

  it.each([
    ['no schema', (name: string) => `ALTER ROLE ${name} SET search_path = nowhere`, /no schema in the search_path/],
    [
      'no right to create them',
      () => 'REVOKE CREATE ON SCHEMA public FROM public',
      /may not create tables in the schema public/,
    ],
  ])('are refused in one sentence where there is %s, before any is created', async (_what, sql, message) => {
    await execute(adminUrl, sql(role));
    const refusal = await open().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: 'StartRefused', exitCode: 78, message: expect.stringMatching(message) });
    expect(await schemasOf('account', 'migration')).toEqual([]);
  });
});

describe('settings', () => {
  beforeEach(() => execute(adminUrl, `GRANT CREATE ON SCHEMA public TO ${role}`));

  it('of a role change neither how times are read nor the isolation of transactions', async () => {
    await execute(adminUrl, `ALTER ROLE ${role} SET DateStyle = 'German, DMY'`);
    await execute(adminUrl, `ALTER ROLE ${role} SET default_transaction_isolation = 'serializable'`);
    await execute(adminUrl, `ALTER ROLE ${role} SET idle_session_timeout = '1s'`);
    await execute(adminUrl, `ALTER ROLE ${role} SET synchronous_commit = off`);
    await using database = await open();
    const before = Date.now();
    const { accountId } = await createAccount(database, 'dp', { name: 'Test', period: { days: 1, reason: 'grant' } });
    const [period] = await database.query<{ ends: number }>(
      'SELECT extract(epoch FROM ends_at)::float8 * 1000 AS ends FROM plan_period WHERE account_id = ?',
      [accountId],
    );
    expect(period?.ends).toBeGreaterThan(before + 23 * 3_600_000);
    expect(await database.queryFirst('SHOW transaction_isolation')).toEqual([
      { transaction_isolation: 'read committed' },
    ]);
    expect(await database.query('SHOW transaction_isolation')).toEqual([{ transaction_isolation: 'read committed' }]);
    expect(await database.query('SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
  });

  it.each(['German, DMY', 'SQL, DMY', 'Postgres, MDY'])(
    'of a role that a pooler keeps, such as %s, change no time that is read',
    async (style) => {
      await execute(adminUrl, `ALTER ROLE ${role} SET DateStyle = '${style}'`);
      await execute(adminUrl, `ALTER ROLE ${role} SET synchronous_commit = off`);
      const lines: string[] = [];
      await using database = await openDatabase({
        // Where it is not the direct one, nothing is set in sessions.
        url: `${url}?application_name=pooled`,
        directUrl: url,
        dataFolder: tmpdir(),
        log: { ...silentLog, error: (line: string) => void lines.push(line) },
        mode: 'serve',
        isShared: true,
        entities: coreEntities,
      });
      expect(await database.query('SHOW DateStyle')).toEqual([{ DateStyle: style }]);
      expect(lines).toEqual([
        expect.stringContaining(`ALTER ROLE "${role}" SET datestyle = 'ISO'`),
        expect.stringContaining(`ALTER ROLE "${role}" SET synchronous_commit = 'on'`),
      ]);
      const { accountId } = await createAccount(database, 'dp', { name: 'Test', period: { days: 1, reason: 'grant' } });
      expect(await changeLimits(database, accountId, { limit: 5 })).toEqual({ limit: 5 });
      // In days up to the 12th, day and month change places.
      const at = Date.parse('2031-11-05T10:20:30.123Z');
      await database.query(
        `INSERT INTO operator_action (id, operator_id, operator, action, subject, created_at)
         VALUES (gen_random_uuid(), gen_random_uuid(), 'ops@example.com', 'account.grant', 'x', ?)`,
        [new Date(at)],
      );
      expect(await listActions(database, { limit: 1 })).toMatchObject([{ createdAt: new Date(at) }]);
      const [kept] = await database.storeFirst<{ value: string }>(
        `SELECT current_setting('synchronous_commit') AS value`,
      );
      expect(kept?.value).toBe('on');
    },
  );

  it('in the options of a URL leave jobs and the replica as they are', async () => {
    const given = new URL(url);
    given.searchParams.set('options', '-c statement_timeout=5000');
    await using database = await open(given.href, [notes], given.href);
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
    expect(await database.records.query('SHOW default_transaction_read_only')).toEqual([
      { default_transaction_read_only: 'on' },
    ]);
    expect(await database.query('SHOW default_transaction_read_only')).toEqual([
      { default_transaction_read_only: 'off' },
    ]);
  });
});
