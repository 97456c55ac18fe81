import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { migrate } from '#core/platform/database/migrate.ts';
import { listMigrations } from '#core/platform/database/migration-files.ts';
import { createBareDatabase, dropDatabase, silentLog } from '../../../support/database.ts';
import { execute } from '../../../support/global-postgres.ts';
import { caseFactor } from '../../../support/runs.ts';

let url: string;
beforeEach(async () => {
  url = await createBareDatabase('template0');
});
afterEach(() => dropDatabase(url));

async function ask<Row extends object>(sql: string): Promise<Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

const countApplied = async () => (await ask<{ n: number }>('SELECT count(*)::int AS n FROM migration'))[0]?.n ?? 0;

/**
 * The table as MikroORM makes it. Of each start, the second migration is ended before its commit, as by a kill: it fails or, as that takes
 * ten times as long, each tenth loses its connection.
 */
const killing = `
  CREATE TABLE migration (id serial PRIMARY KEY, name varchar(255), executed_at timestamptz DEFAULT now());
  CREATE TABLE survivor (pid int PRIMARY KEY);
  CREATE FUNCTION kill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF (SELECT count(*) FROM migration) > (SELECT count(*) FROM survivor) THEN
      IF (SELECT count(*) FROM survivor) % 10 <> 0 THEN RAISE EXCEPTION 'terminated'; END IF;
      PERFORM pg_terminate_backend(pg_backend_pid());
      PERFORM pg_sleep(10);
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER kill AFTER INSERT ON migration FOR EACH ROW EXECUTE FUNCTION kill()`;

/** Kills are after every third migration; with TEST_CASES=2, as `npm run upgrades` has it, after each. */
const step = caseFactor > 1 ? 1 : 3;

describe('a migration', () => {
  it('keeps what is done when it is killed after any of them, and is continued by the next start', async () => {
    const [{ files } = { files: new Map() }] = await listMigrations([]);
    await execute(url, killing);
    for (let done = 1; done < files.size; done += step) {
      await execute(url, `INSERT INTO survivor SELECT generate_series(count(*) + 1, ${done}) FROM survivor`);
      await expect(migrate(url, silentLog)).rejects.toMatchObject({
        cause: { message: expect.stringMatching(/terminat/i) },
      });
      expect(await countApplied()).toBe(done);
    }
    await execute(url, 'DROP TRIGGER kill ON migration; DROP FUNCTION kill; DROP TABLE survivor');
    const done = await countApplied();
    expect(await migrate(url, silentLog)).toEqual([...files.keys()].slice(done));
    expect(await migrate(url, silentLog)).toEqual([]);
  });

  it('waits for the one of another process, and says so', async () => {
    const other = new pg.Client(url);
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT pg_advisory_xact_lock(7233193826951295840)');
    const info = vi.fn<(line: string) => void>();
    const migrated = migrate(url, { ...silentLog, info });
    await vi.waitFor(() =>
      expect(info.mock.calls).toEqual([['another process is migrating the database; waiting for it']]),
    );
    expect(await ask(`SELECT to_regclass('account') AS found`)).toEqual([{ found: null }]);
    await other.query('ROLLBACK');
    await other.end();
    expect(await migrated).not.toEqual([]);
  });
});
