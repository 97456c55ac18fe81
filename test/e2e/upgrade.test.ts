import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { migrate } from '#core/platform/database/migrate.ts';
import { runCommand } from '../support/command-line.ts';
import { createBareDatabase, dropDatabase, silentLog } from '../support/database.ts';
import { type GatewayHome, openGatewayHome } from '../support/gateway-home.ts';
import { execute } from '../support/global-postgres.ts';
import { redisUrl } from '../support/redis.ts';
import { caseFactor } from '../support/runs.ts';

const root = resolve(import.meta.dirname, '..', '..');
/** `npm run upgrades` kills after each migration. A run takes a second. */
const migrationsPerRun = caseFactor > 1 ? 1 : 5;
const run = promisify(execFile);
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** Released versions, oldest first, with what their databases hold: docs/upgrading.md says how one is added. */
const released = [
  {
    version: '0.1.0',
    /** The last commit of the version: its code is read from the repository. */
    commit: '4eb44ab64ad705589bf220dc2d3e610f4bd12390',
    /** A key of its database. */
    key: 'dp-KtX2tAw2lkjeTziIDrpx0cgGt4KNNdSSgDidEGnSJ422XeKTs',
    order: 'ORD-PNV8CW76',
  },
  {
    version: '0.2.0',
    commit: '566f2aaba2c92656b6a5e18f478f25a01f2f6aec',
    key: 'dp-V5HhaaRAUS8b3Ya3lOQvUkaOIiYt7GLvMrirVn6Q1sz02ZhKY',
    order: 'ORD-DM2YZ87W',
  },
  {
    version: '0.3.0',
    commit: '9870109c917a2d17da273e44195292b85df5536d',
    key: 'dp-Jk9OwvTLPWZLtMhmYgSKfyky4vEBaRpsOin3dkn7ql706HPlF',
    order: 'ORD-N46S1Q38',
  },
  {
    version: '0.4.0',
    commit: 'd90eb4d760c850a99e95452e9a6101642c7be746',
    key: 'dp-EDOYKgVtRXAcRhZKmDPUjZgb8o6OsSU7kKSNfsLu1LQ33TZas',
    order: 'ORD-95CCPJH6',
  },
  {
    version: '0.5.0',
    commit: 'a58a3b7187ed6439a47a276bb4d6e3ffad5521a4',
    key: 'dp-x8WRiovWdGAW8q4oZkEYBaxwU5itx45IavtJi0dSKQZ04j585',
    order: 'ORD-QAYQ5W09',
  },
  {
    version: '0.5.1',
    commit: 'd6688b47c83ca7067dd21586582bc74b8f59f444',
    key: 'dp-6xriWkBC5HtQDmEcijRtohcl9JiRS5JD8j6MwGkgBQC1FmRaU',
    order: 'ORD-DFVM6ZX0',
  },
  {
    version: '0.5.2',
    commit: 'bc2060c21d8768cf602246dd8e9c829569e69806',
    key: 'dp-jZ6XvBft4XPjVXNwME4wnesaDYqVaHCYrlmL5ETZqPl1a7m85',
    order: 'ORD-4PV2VXG5',
  },
] as const;

/** Versions whose databases a gateway serves here: the oldest and the newest; all of them with TEST_CASES=2, as `npm run upgrades` has it. */
const served = new Set<string>(
  released.filter((_, index) => caseFactor > 1 || index % (released.length - 1) === 0).map(({ version }) => version),
);

const yaml = `pipeline: [auth, plan, rate-limit, cache, format, upstream, log]
upstreams: { demo: { vendor: demo } }
models: { demo: { routes: [demo/chatty] } }
plans: [{ days: 7, price: 95000 }]
currency: IDR
`;

/** A database with the content of a fixture. */
async function restore(version: string): Promise<string> {
  const url = await createBareDatabase('template0');
  const file = join(root, 'test', 'fixtures', 'versions', `${version}.sql.gz`);
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(gunzipSync(await readFile(file)).toString());
  } finally {
    await client.end();
  }
  return url;
}

async function ask(url: string, key: string): Promise<number> {
  const { status } = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'dp/demo', messages: [{ role: 'user', content: 'Hello' }] }),
    signal: AbortSignal.timeout(30_000),
  });
  return status;
}

/** Statuses of ten requests, five with each key. */
async function askWith(url: string, keys: readonly string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (let count = 0; count < 5; count++) for (const key of keys) statuses.push(await ask(url, key));
  return statuses;
}

/**
 * Applies what is pending in parts: each run is ended in the migration after `migrationsPerRun` others, before the commit.
 *
 * @param check runs after each
 * @returns how many there were
 */
async function killAfterEach(url: string, check: () => Promise<void>): Promise<number> {
  await execute(
    url,
    `CREATE TABLE first_new (name text PRIMARY KEY);
     CREATE FUNCTION kill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF (SELECT count(*) FROM first_new) >= ${migrationsPerRun} THEN RAISE EXCEPTION 'killed'; END IF;
       INSERT INTO first_new VALUES (NEW.name);
       RETURN NEW;
     END $$;
     CREATE TRIGGER kill AFTER INSERT ON migration FOR EACH ROW EXECUTE FUNCTION kill()`,
  );
  for (let applied = 1; ; applied++) {
    const failure = await migrate(url, silentLog).then(
      () => undefined,
      (error: unknown) => error,
    );
    await check();
    if (failure !== undefined) expect(String((failure as Error).cause)).toContain('killed');
    else {
      await execute(url, 'DROP TRIGGER kill ON migration; DROP FUNCTION kill; DROP TABLE first_new');
      return applied;
    }
    await execute(url, 'DELETE FROM first_new');
  }
}

const tenTimes200 = Array.from({ length: 10 }, () => 200);

/** The folder with the code of a version; undefined where the repository's history is not there. */
async function checkOut(commit: string): Promise<string | undefined> {
  const isThere = await run('git', ['cat-file', '-e', commit], { cwd: root }).then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'daypass-version-'));
  const archive = join(folder, 'version.tar');
  await run('git', ['archive', '--output', archive, commit], { cwd: root });
  await run('tar', ['-xf', archive, '-C', folder, 'core', 'plugins', 'views', 'migrations', 'package.json']);
  await rm(archive);
  // Packages that only older versions need, such as @hapi/vision, are development dependencies of this one.
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Removing types takes half of a start: code of a version keeps the result beside itself. */
function compileCache(folder: string): { readonly NODE_COMPILE_CACHE: string } {
  return { NODE_COMPILE_CACHE: join(folder, 'cache') };
}

it('every released version has a fixture', async () => {
  const files = await readdir(join(root, 'test', 'fixtures', 'versions'));
  expect(files.toSorted()).toEqual(released.map(({ version }) => `${version}.sql.gz`));
});

describe.each(released)('a database of $version', ({ version, commit, key, order }) => {
  /** The way back is promised by one version. */
  const isWayBack = version === released.at(-1)?.version;
  let home: GatewayHome;
  let url: string;
  let code: string | undefined;
  beforeAll(async () => {
    url = await restore(version);
    // Opens the database with the newest version, which migrates it, and issues a key.
    home = await openGatewayHome(url, yaml);
    if (isWayBack) code = await checkOut(commit);
  });
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]();
    await dropDatabase(url);
    if (code !== undefined) await rm(code, { recursive: true, force: true });
  });

  it('is migrated by this version, with its accounts, days, orders and records', async () => {
    const [days] = await home.database.query<{ sum: number }>(
      'select sum(days)::int as sum from plan_period join account on account.id = account_id where account.name = ?',
      ['Ani'],
    );
    expect(days?.sum).toBe(365);
    const orders = await home.database.query(
      'select price::int as price, state, (select count(*)::int from request_log) as records from plan_order where code = ?',
      [order],
    );
    expect(orders).toEqual([{ price: 95_000, state: 'paid', records: 3 }]);
  });

  it.runIf(served.has(version))('is served by this version, with its orders and records', async () => {
    await using gateway = await home.start();
    expect(await ask(gateway.url, key)).toBe(200);
    expect(await command('orders', 'show', order)).toMatch(/95\.000/);
    expect(await command('usage', '--by', 'model', '--since', '400d')).toContain('dp/demo');
  });

  it.runIf(isWayBack)(
    'is opened by its own version again, which sells, and is served by both at once, each knowing the keys of the other',
    async (context) => {
      if (code === undefined) return context.skip(`the repository has no commit ${commit}: a shallow clone`);
      const shared = redisUrl === undefined ? {} : { REDIS_URL: redisUrl };
      const older = [process.execPath, join(code, 'core', 'main.ts')];
      await using gateway = await home.start({ ...shared, ...compileCache(code) }, older);
      expect(await askWith(gateway.url, [key, home.key])).toEqual(tenTimes200);
      const created = await run(
        process.execPath,
        [...main(code), 'key', 'create', '--name', 'Late', '--days', '1'],
        options(),
      );
      const late = /dp-\w+/.exec(created.stdout)?.[0] ?? '';
      expect(await ask(gateway.url, late)).toBe(200);
      const shown = await run(process.execPath, [...main(code), 'orders', 'show', order], options());
      expect(shown.stdout).toMatch(/95\.000/);
      // Without Redis, one follows the other.
      if (redisUrl === undefined) await gateway.end('SIGTERM');
      // What the older one has written is read by this one.
      await using again = await home.start(shared);
      expect(await askWith(again.url, [key, late])).toEqual(tenTimes200);
      expect(await ask(again.url, home.key)).toBe(200);
      if (redisUrl !== undefined) expect(await askWith(gateway.url, [home.key, late])).toEqual(tenTimes200);
    },
  );

  it.runIf(isWayBack)(
    `is served by its own version after every ${migrationsPerRun} migrations of this one, although each run was killed in the next`,
    async (context) => {
      if (code === undefined) return context.skip(`the repository has no commit ${commit}: a shallow clone`);
      const partly = await restore(version);
      try {
        await using gateway = await home.start({ DATABASE_URL: partly, ...compileCache(code) }, [
          process.execPath,
          join(code, 'core', 'main.ts'),
        ]);
        const pending = await killAfterEach(partly, async () => {
          expect(await ask(gateway.url, key)).toBe(200);
        });
        expect(pending).toBeGreaterThan(0);
        expect(await askWith(gateway.url, [key, key])).toEqual(tenTimes200);
        expect(await gateway.end('SIGTERM')).toBe(0);
        expect(gateway.output()).not.toMatch(/ error |Exception/i);
        await using newest = await home.start({ DATABASE_URL: partly });
        expect(await ask(newest.url, key)).toBe(200);
      } finally {
        await dropDatabase(partly);
      }
    },
  );

  const command = async (...words: string[]) => {
    const { code: status, out, errors } = await runCommand(['--config', home.file, ...words], { DATABASE_URL: url });
    return status === 0 ? out : `exit ${status}\n${errors}`;
  };
  const main = (folder: string) => [join(folder, 'core', 'main.ts'), '--config', home.file];
  const options = () => ({
    env: { PATH: process.env['PATH'], DATABASE_URL: url, ...(code !== undefined && compileCache(code)) },
    cwd: root,
  });
});
