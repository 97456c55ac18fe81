import { chmod, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { createJsonFrame, magic, writeFrames } from '#core/platform/backup/frames.ts';
import { readSchema } from '#core/platform/backup/schema.ts';
import { takeBackup, type TakenBackup } from '#core/platform/backup/take.ts';
import { verifyBackup } from '#core/platform/backup/verify.ts';
import { copyOut } from '#core/platform/database/copy.ts';
import type { Database } from '#core/platform/database/database.ts';
import { withClient } from '#core/platform/database/with-client.ts';
import { runCommand } from '../../../support/command-line.ts';
import { createBareDatabase, createTestDatabase, dropDatabase } from '../../../support/database.ts';

let folder: string;
let database: Database;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-backup-'));
  // The user of PostgreSQL enters it.
  await chmod(folder, 0o755);
  database = await createTestDatabase();
});
afterEach(async () => {
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const now = new Date('2026-11-26T03:17:00Z');
const take = (options: Partial<Parameters<typeof takeBackup>[0]> = {}): Promise<TakenBackup> =>
  takeBackup({
    databaseUrl: database.url,
    journalFolder: join(folder, 'journal'),
    folder: join(folder, 'backups'),
    minFreeBytes: 0,
    now,
    ...options,
  });

/** An account with paid time, a record in a partition of its day, and a file of waiting records. */
async function fillDatabase(): Promise<string> {
  const { accountId } = await createAccount(database, 'dp', { name: 'Ani\t"\\N"', email: 'ani@example.com' });
  await database.query(
    `insert into plan_period (id, account_id, starts_at, ends_at, days, reason)
     values (gen_random_uuid(), ?, now(), now() + interval '3 days', 3, 'grant')`,
    [accountId],
  );
  await database.query(
    `create table request_log_20250102 partition of request_log for values from ('2025-01-02Z') to ('2025-01-03Z')`,
  );
  await mkdir(join(folder, 'journal'), { recursive: true });
  await writeFile(join(folder, 'journal', 'abc-00000001.ndjson'), '{"at":"begin","id":"req_1"}\n');
  await writeFile(join(folder, 'journal', 'abc.lock'), '{}');
  return accountId;
}

/** Runs `daypass restore` on a gateway.yaml in a folder of its own. */
async function restore(
  file: string,
  words: readonly string[] = [],
  databaseUrl = '',
): Promise<{ code: number; out: string; errors: string; home: string }> {
  const home = join(folder, 'home');
  await mkdir(home, { recursive: true });
  const yaml = join(home, 'gateway.yaml');
  await writeFile(
    yaml,
    'pipeline: [auth, plan, format, upstream, log]\nupstreams: { demo: { vendor: demo } }\nmodels: { demo: { routes: [demo/chatty] } }\n',
  );
  return { home, ...(await runCommand(['--config', yaml, 'restore', file, ...words], { DATABASE_URL: databaseUrl })) };
}

async function query<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function* onlyHead() {
  yield createJsonFrame('H', { format: 1, version: '0.1.0', created_at: now.toISOString() });
}

const everything = `select a.name, a.email, p.days, (select count(*)::int from account_event) as events
  from account a join plan_period p on p.account_id = a.id`;

describe('a backup', () => {
  it('restores accounts, ledger, partitions, sequences and waiting records into an empty database', async () => {
    await fillDatabase();
    const { path, rows } = await take();
    const target = await createBareDatabase('template0');
    try {
      const { code, out, errors, home } = await restore(path, [], target);
      expect([code, errors]).toEqual([0, '']);
      expect(out).toContain(`restored ${rows} rows`);
      expect(await query(target, everything)).toEqual(await query(database.url, everything));
      const partitions = `select relname from pg_class where relname = 'request_log_20250102' and relispartition`;
      expect(await query(target, partitions)).toHaveLength(1);
      const sequences = `select sequencename, last_value::text from pg_sequences where schemaname = 'public' and last_value is not null and sequencename not like 'migration%' order by 1`;
      expect(await query(target, sequences)).toEqual(await query(database.url, sequences));
      await expect(query(target, 'delete from plan_period')).rejects.toThrow('append-only');
      expect(await readdir(join(home, 'data', 'journal'))).toEqual(['abc-00000001.ndjson']);
    } finally {
      await dropDatabase(target);
    }
  });

  it('restores into an empty data folder, which a start then finds', async () => {
    await fillDatabase();
    const { path } = await take();
    const { code, out, home } = await restore(path);
    expect(code).toBe(0);
    expect(out).toMatch(/^backup of 2026-11-26T03:17:00.000Z, made by version .*its checksum is correct$/m);
    expect((await readdir(join(home, 'data'))).toSorted()).toEqual([
      'journal',
      'postgres',
      'postgres.json',
      'postgres.log',
    ]);
    const { out: list } = await runCommand(['--config', join(home, 'gateway.yaml'), 'account', 'list', '--json'], {
      DATABASE_URL: '',
    });
    expect(list).toContain('ani@example.com');
  });

  it('is of one moment, whatever is written meanwhile', async () => {
    const accountId = await fillDatabase();
    const add = () =>
      database.query(
        `with o as (insert into plan_period (id, account_id, starts_at, ends_at, days, reason)
           values (gen_random_uuid(), ?, now() + interval '9 days', now() + interval '10 days', 1, 'grant') returning id)
         update account set name = (select count(*) + 1 from plan_period)::text where id = ?`,
        [accountId, accountId],
      );
    const over = new AbortController();
    const writing = (async () => {
      while (!over.signal.aborted) await add();
    })();
    const { path } = await take();
    over.abort();
    await writing;
    const target = await createBareDatabase('template0');
    try {
      expect((await restore(path, [], target)).code).toBe(0);
      const [row] = await query<{ name: string; count: string }>(
        target,
        'select a.name, (select count(*) from plan_period)::text as count from account a',
      );
      expect(['Ani\t"\\N"', row?.count]).toContain(row?.name);
    } finally {
      await dropDatabase(target);
    }
  });

  it('has its name only when it is complete, and removes what a killed one has left', async () => {
    await mkdir(join(folder, 'backups'), { recursive: true });
    await writeFile(join(folder, 'backups', 'daypass-20260101T000000Z.backup.unfinished'), 'half');
    const { path, bytes } = await take();
    expect(path).toBe(join(folder, 'backups', 'daypass-20261126T031700Z.backup'));
    expect(await readdir(join(folder, 'backups'))).toEqual(['daypass-20261126T031700Z.backup']);
    expect((await readFile(path)).length).toBe(bytes);
  });

  it('is refused where the disk has too little space, and leaves nothing behind', async () => {
    await expect(take({ minFreeBytes: 2 ** 60 })).rejects.toThrow(/MB free, and a backup may take .* MB .*backup\.to/);
    expect(await readdir(join(folder, 'backups'))).toEqual([]);
  });

  it('ends when it is aborted, and leaves no files', async () => {
    await expect(take({ signal: AbortSignal.abort(new Error('stopping')) })).rejects.toThrow('stopping');
    expect(await readdir(join(folder, 'backups'))).toEqual([]);
  });
});

describe('a restore is refused, and touches nothing,', () => {
  it('of a file that is damaged, incomplete, or something else', async () => {
    await fillDatabase();
    const { path, bytes } = await take();
    const whole = await readFile(path);
    const damaged = Buffer.from(whole);
    damaged[Math.floor(bytes / 2)] = (damaged[Math.floor(bytes / 2)] ?? 0) ^ 0xff;
    const other = join(folder, 'other.backup');
    await writeFile(other, damaged);
    expect((await restore(other)).errors).toMatch(/damaged|incomplete/);
    await writeFile(other, whole);
    await truncate(other, bytes - 20);
    expect((await restore(other)).errors).toMatch(/damaged|incomplete/);
    await writeFile(other, '-- PostgreSQL database dump');
    const { errors, code, home } = await restore(other);
    expect([code, errors]).toEqual([1, expect.stringContaining('is not a backup of Daypass')]);
    await expect(readdir(join(home, 'data'))).rejects.toThrow('ENOENT');
  });

  it('of a file whose content was changed with care', async () => {
    const parts: Buffer[] = [];
    for await (const part of writeFrames(onlyHead())) parts.push(part);
    parts[0] = Buffer.from(parts[0]?.toString('latin1').replace('0.1.0', '0.1.1') ?? '', 'latin1');
    const path = join(folder, 'changed.backup');
    await writeFile(path, Buffer.concat([magic, zstdCompressSync(Buffer.concat(parts))]));
    await expect(verifyBackup(path)).rejects.toThrow('its checksum is wrong');
  });

  it('into a database that has tables, and into a data folder that is not empty', async () => {
    const { path } = await take();
    expect((await restore(path, [], database.url)).errors).toContain('has tables. Create an empty one');
    await mkdir(join(folder, 'home', 'data'), { recursive: true });
    await writeFile(join(folder, 'home', 'data', 'demo-key'), 'x');
    const { code, errors, home } = await restore(path);
    expect([code, errors]).toEqual([1, expect.stringContaining('is not empty')]);
    expect(await readdir(join(home, 'data'))).toEqual(['demo-key']);
  });

  it('of a newer version, whose tables this one does not know', async () => {
    await database.query(`insert into migration (name, executed_at) values ('Migration20991231000000_future', now())`);
    const { path } = await take();
    const { code, errors } = await restore(path, ['--check']);
    expect([code, errors]).toEqual([1, expect.stringMatching(/Migration20991231000000_future.*newer one/)]);
  });
});

it('a restore fills referenced tables first, even if an earlier schema has a table of the same name', async () => {
  await database.query('create schema earlier');
  await database.query('create table earlier.plan_order ()');
  const { tables } = await withClient({ connectionString: database.url }, async (client) => {
    await client.query('set search_path = earlier, public');
    return readSchema(client);
  });
  const names = tables.map(({ name }) => name);
  expect(names).toContain('payment');
  expect(names.indexOf('plan_order')).toBeLessThan(names.indexOf('payment'));
});

it('a connection goes on after a COPY whose last row fills a chunk', async () => {
  const client = new pg.Client(database.url);
  await client.connect();
  try {
    for (let round = 0; round < 3; round++) {
      const copy = copyOut(client, `copy (select repeat('x', 70000)) to stdout`);
      let bytes = 0;
      for await (const chunk of copy.chunks) bytes += chunk.length;
      expect([bytes, copy.rows()]).toEqual([70_001, 1]);
    }
    await expect(
      (async () => {
        for await (const _ of copyOut(client, 'copy no_such_table to stdout').chunks);
      })(),
    ).rejects.toThrow('no_such_table');
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  } finally {
    await client.end();
  }
});
