import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DatabaseClaim } from '#core/platform/database/claim.ts';
import type { Database } from '#core/platform/database/database.ts';
import { PostgresNotifications } from '#core/platform/database/notifications.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { coreEntities } from '#core/process/entities.ts';
import { createBareDatabase, createTestDatabase, dropDatabase, silentLog } from '../../../support/database.ts';
import { execute, withDatabase } from '../../../support/global-postgres.ts';
import { createTcpProxy } from '../../../support/tcp-proxy.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** Ends every connection to the database but those that have this name. */
async function cutConnections(of: Database, name = '%'): Promise<void> {
  const target = new URL(of.url).pathname.slice(1);
  const maintenance = withDatabase(of.url, 'postgres');
  await execute(
    maintenance,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${target}' AND application_name LIKE '${name}'`,
  );
}

async function addAccount(): Promise<string> {
  const id = randomUUID();
  await database.query('INSERT INTO account (id, name) VALUES (?, ?)', [id, 'Ani']);
  return id;
}

const open = (url: string) =>
  openDatabase({ url, dataFolder: tmpdir(), log: silentLog, mode: 'serve', isShared: false });

describe('a database whose connections are all taken', () => {
  it('still answers what requests of the API wait for', async () => {
    await using other = await createTestDatabase();
    const taken = Array.from({ length: 30 }, () => other.query('select pg_sleep(0.3)'));
    let areTaken = true;
    const all = Promise.all(taken).then(() => (areTaken = false));
    expect(await other.queryFirst('select ?::int as one', [1])).toEqual([{ one: 1 }]);
    expect(areTaken).toBe(true);
    await all;
  });
});

describe('a database that cannot be opened', () => {
  it.each(['hello', 'localhost:5432/daypass', 'redis://localhost', ''])(
    'is refused with an address that is none, without quoting it: %j',
    async (url) => {
      await expect(open(url)).rejects.toThrow(
        'DATABASE_URL is not a valid PostgreSQL URL. Use postgres://user:password@host:5432/database.',
      );
    },
  );

  it('is refused when it is new and cannot hold every text, and one in use is complained of', async () => {
    const name = `daypass_test_${randomUUID().replaceAll('-', '')}`;
    const create = `CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`;
    const url = withDatabase(database.url, name);
    await execute(withDatabase(database.url, 'postgres'), create);
    try {
      const refusal = await open(url).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ name: 'StartRefused', exitCode: 78 });
      expect(String(refusal)).toContain(`database ${name} has the encoding LATIN1, not UTF8. Create another one:`);
      await execute(url, 'CREATE TABLE migration (id serial, name text, executed_at timestamptz default now())');
      const lines: string[] = [];
      const log = { ...silentLog, error: (line: string) => lines.push(line) };
      await (
        await openDatabase({ url, dataFolder: tmpdir(), log, mode: 'command', isShared: true })
      )[Symbol.asyncDispose]();
      expect(lines).toEqual([expect.stringContaining('has the encoding LATIN1, not UTF8: other letters fail.')]);
    } finally {
      await dropDatabase(url);
    }
  });

  it('is named without its password, with the reason', async () => {
    const failure = open('postgres://ani:secret@127.0.0.1:1/daypass');
    await expect(failure).rejects.toMatchObject({
      message: 'The database 127.0.0.1:1/daypass of DATABASE_URL could not be opened',
      cause: { message: 'connect ECONNREFUSED 127.0.0.1:1' },
    });
  });

  it('is named with a reason when its host has several addresses', async () => {
    await expect(open('postgres://localhost:1/daypass')).rejects.toMatchObject({
      message: 'The database localhost:1/daypass of DATABASE_URL could not be opened',
      cause: { message: expect.stringContaining('ECONNREFUSED') },
    });
  });

  it('is named by that one of two variables which leads to it', async () => {
    const nowhere = 'postgres://127.0.0.1:1/daypass';
    const options = { dataFolder: tmpdir(), log: silentLog, mode: 'serve', isShared: true } as const;
    const { url } = database;
    for (const [variable, urls] of [
      ['DATABASE_DIRECT_URL', { url, directUrl: nowhere }],
      ['DATABASE_URL', { url: nowhere, directUrl: url }],
    ] as const)
      await expect(openDatabase({ ...options, ...urls })).rejects.toMatchObject({
        message: `The database 127.0.0.1:1/daypass of ${variable} could not be opened`,
        cause: { message: 'connect ECONNREFUSED 127.0.0.1:1' },
      });
  });

  it('is not blamed for a migration that fails', async () => {
    const url = await createBareDatabase('template0');
    try {
      await execute(url, 'CREATE TABLE account (id int)');
      await expect(open(url)).rejects.toMatchObject({
        message: expect.stringMatching(/^the tables could not be migrated: Migration\d+_\w+ failed$/),
        cause: { message: expect.stringContaining('relation "account" already exists') },
      });
    } finally {
      await dropDatabase(url);
    }
  });

  it('is not blamed for what a plugin has done', async () => {
    const { url } = database;
    const missing = Object.assign(new Error('no such module'), { code: 'ERR_MODULE_NOT_FOUND' });
    const tables = [{ name: 'notes', entities: () => Promise.reject(missing) }];
    const options = { url, dataFolder: tmpdir(), log: silentLog, mode: 'serve', isShared: true, tables } as const;
    await expect(openDatabase(options)).rejects.toBe(missing);
  });

  it('is named when the server has none of that name', async () => {
    const url = withDatabase(database.url, 'daypass_nowhere');
    await expect(open(url)).rejects.toMatchObject({
      message: expect.stringMatching(/^The database \S+\/daypass_nowhere of DATABASE_URL could not be opened/),
      cause: { message: 'database "daypass_nowhere" does not exist' },
    });
  });
});

describe('an empty database', () => {
  it('is migrated once by five that open it at the same time', async () => {
    const url = await createBareDatabase('template0');
    const info = vi.fn<(message: string) => void>();
    const log = { ...silentLog, info };
    try {
      const all = await Promise.all(
        Array.from({ length: 5 }, () =>
          openDatabase({ url, dataFolder: tmpdir(), log, mode: 'serve', isShared: true }),
        ),
      );
      for (const opened of all)
        expect(await opened.query('SELECT count(*)::int AS n FROM account')).toEqual([{ n: 0 }]);
      const [first] = all;
      const done = await first?.query<{ n: number }>(
        'SELECT count(*)::int AS n, count(DISTINCT name)::int AS names FROM migration',
      );
      expect(done?.[0]?.n).toBeGreaterThanOrEqual(2);
      expect(done).toEqual([{ n: done?.[0]?.n, names: done?.[0]?.n }]);
      expect(info.mock.calls.filter(([message]) => message.startsWith('applied migrations'))).toHaveLength(1);
      for (const opened of all) await opened[Symbol.asyncDispose]();
    } finally {
      await dropDatabase(url);
    }
  });
});

describe('a migration', () => {
  it('may take longer than a statement of others', async () => {
    const url = await createBareDatabase('template0');
    await execute(
      url,
      `CREATE TABLE seen (deadline text);
       CREATE FUNCTION look() RETURNS event_trigger LANGUAGE plpgsql AS
         $$ BEGIN INSERT INTO seen VALUES (current_setting('statement_timeout')); END $$;
       CREATE EVENT TRIGGER look ON ddl_command_end EXECUTE FUNCTION look();
       ALTER DATABASE ${new URL(url).pathname.slice(1)} SET statement_timeout = '9s'`,
    );
    try {
      await using opened = await openDatabase({
        entities: coreEntities,
        url,
        dataFolder: tmpdir(),
        log: silentLog,
        mode: 'command',
        isShared: true,
      });
      expect(await opened.query('SELECT DISTINCT deadline FROM seen')).toEqual([{ deadline: '0' }]);
      expect(await opened.query('SHOW statement_timeout')).toEqual([{ statement_timeout: '10s' }]);
    } finally {
      await dropDatabase(url);
    }
  });
});

const openAlone = (mode: 'serve' | 'command') =>
  openDatabase({ url: database.url, dataFolder: tmpdir(), log: silentLog, mode, isShared: false });

describe('a database that several gateways cannot share', () => {
  it('refuses the second one and says what to do', async () => {
    await using _first = await openAlone('serve');
    await expect(openAlone('serve')).rejects.toThrow(
      'Another gateway uses this database. Several gateways need Redis to share their limits: set REDIS_URL for all of them.',
    );
  });

  it('serves a command while a gateway runs, and another gateway once the first has stopped', async () => {
    const first = await openAlone('serve');
    await using command = await openAlone('command');
    await command.ping();
    await first[Symbol.asyncDispose]();
    await using second = await openAlone('serve');
    await second.ping();
  });
});

/** The process of the server that holds the claim; undefined when none does. `isWaiting`: that waits for it. */
async function claimant(of: Database, isWaiting = false): Promise<number | undefined> {
  const [row] = await of.query<{ pid: number }>(
    `SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted = ? AND application_name = 'daypass-instance' AND datname = current_database()`,
    [!isWaiting],
  );
  return row?.pid;
}

describe('a gateway that is the only one', () => {
  it('claims its database again when the connection was cut', async () => {
    await using lonely = await createTestDatabase();
    await using _only = await DatabaseClaim.acquire(lonely.url, 'exclusive', silentLog);
    const before = await claimant(lonely);
    expect(before).toBeTypeOf('number');
    await cutConnections(lonely, 'daypass-instance');
    await vi.waitFor(async () => expect([before, undefined]).not.toContain(await claimant(lonely)), {
      timeout: 15_000,
    });
    expect(await DatabaseClaim.acquire(lonely.url, 'exclusive', silentLog)).toBeUndefined();
  });

  it('logs that another gateway has claimed the database, and claims it again when that one stops', async () => {
    await using lonely = await createTestDatabase();
    const info = vi.fn<(message: string) => void>();
    const error = vi.fn<(message: string) => void>();
    await using _only = await DatabaseClaim.acquire(lonely.url, 'exclusive', { ...silentLog, info, error });
    const claiming = DatabaseClaim.acquire(lonely.url, 'exclusive', silentLog);
    await vi.waitFor(async () => expect(await claimant(lonely, true)).toBeTypeOf('number'), {
      interval: 5,
      timeout: 15_000,
    });
    await lonely.query('SELECT pg_terminate_backend(?::int)', [await claimant(lonely)]);
    const other = await claiming;
    expect(other).toBeDefined();
    await vi.waitFor(() => expect(error).toHaveBeenCalledOnce(), { timeout: 15_000 });
    expect(error.mock.calls[0]?.[0]).toMatch(/another gateway took the lock on this database/);
    await other?.[Symbol.asyncDispose]();
    await vi.waitFor(() => expect(info).toHaveBeenCalledWith('reacquired the lock on this database'), {
      timeout: 15_000,
    });
  });

  it('leaves no connection of a failed attempt open', async () => {
    await using lonely = await createTestDatabase();
    const error = vi.fn<(message: string) => void>();
    await using only = await DatabaseClaim.acquire(lonely.url, 'exclusive', { ...silentLog, error });
    expect(only).toBeDefined();
    const claiming = DatabaseClaim.acquire(lonely.url, 'exclusive', silentLog);
    await vi.waitFor(async () => expect(await claimant(lonely, true)).toBeTypeOf('number'), {
      interval: 5,
      timeout: 15_000,
    });
    await lonely.query('SELECT pg_terminate_backend(?::int)', [await claimant(lonely)]);
    await using _other = await claiming;
    await vi.waitFor(() => expect(error).toHaveBeenCalledOnce(), { timeout: 15_000 });
    // The second attempt is under way: the first one has ended, or it would be a third connection.
    await vi.waitFor(async () => expect(await claimant(lonely, true)).toBeTypeOf('number'), { timeout: 15_000 });
    const [row] = await lonely.query(
      "SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'daypass-instance'",
    );
    expect(row).toEqual({ open: 2 });
  });

  it('leaves no connection open when it is refused', async () => {
    await using lonely = await createTestDatabase();
    await using _only = await DatabaseClaim.acquire(lonely.url, 'exclusive', silentLog);
    expect(await DatabaseClaim.acquire(lonely.url, 'exclusive', silentLog)).toBeUndefined();
    const sql =
      "SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'daypass-instance'";
    await vi.waitFor(async () => expect(await lonely.query(sql)).toEqual([{ open: 1 }]), { timeout: 15_000 });
  });

  it('stops trying when it stops', async () => {
    await using lonely = await createTestDatabase();
    const only = await DatabaseClaim.acquire(lonely.url, 'exclusive', silentLog);
    await cutConnections(lonely, 'daypass-instance');
    await only?.[Symbol.asyncDispose]();
    // The server ends the process of a closed connection a moment later.
    await vi.waitFor(async () => expect(await claimant(lonely)).toBeUndefined(), { timeout: 15_000 });
    await using next = await DatabaseClaim.acquire(lonely.url, 'exclusive', silentLog);
    expect(next).toBeDefined();
  });
});

describe('a database that is away', () => {
  it('is reported in time', async () => {
    const url = 'postgres://postgres:secret@127.0.0.1:1/postgres';
    const opening = openDatabase({ url, dataFolder: tmpdir(), log: silentLog, mode: 'serve', isShared: false });
    const error: unknown = await opening.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).not.toContain('secret');
  });
});

describe('a query', () => {
  it.each([
    ['text', 'it\'s \\ "quoted" ? $1 :name -- /* é'],
    ['a number', 4.25],
    ['a boolean', true],
    ['nothing', null],
    ['bytes', Buffer.from([0, 1, 255])],
    ['an object', { a: [1, { b: '?' }] }],
  ])('takes %s and gives it back', async (name, value) => {
    const type = {
      text: 'text',
      'a number': 'float8',
      'a boolean': 'boolean',
      nothing: 'text',
      bytes: 'bytea',
      'an object': 'jsonb',
    }[name];
    expect(await database.query(`SELECT ?::${type} AS value`, [value])).toEqual([{ value }]);
  });

  it('takes a time, and gives it back as text', async () => {
    const rows = await database.query('SELECT ?::timestamptz AS value', [new Date('2027-01-01T00:00:00.123Z')]);
    expect(rows).toEqual([{ value: '2027-01-01 00:00:00.123+00' }]);
  });

  it('takes a list for as many parameters', async () => {
    const list = ['a', 'b"', "c'"];
    expect(await database.query('SELECT ARRAY[?] AS value', [list])).toEqual([{ value: list }]);
  });

  it('takes an empty list for nothing', async () => {
    expect(await database.query('SELECT 1 AS value WHERE 1 IN (?)', [[]])).toEqual([]);
  });

  it('leaves question marks alone in texts, names and comments', async () => {
    const sql = `SELECT 'it''s ?' AS "a?", /* ? */ ?::text AS b, $x$?'$x$ AS c -- ?`;
    expect(await database.query(sql, ['value'])).toEqual([{ 'a?': "it's ?", b: 'value', c: "?'" }]);
  });

  it('refuses more parameters than it has places for', async () => {
    await expect(database.query('SELECT ?::int', [1, 2])).rejects.toThrow('1 placeholders got 2 parameters');
  });

  it('takes parameters in their order', async () => {
    expect(await database.query('SELECT ?::int AS a, ?::int AS b, ?::int AS c', [1, 2, 3])).toEqual([
      { a: 1, b: 2, c: 3 },
    ]);
  });

  it('takes a parameter for what it is, never for SQL', async () => {
    const name = "x'; DROP TABLE account; --";
    await database.query('INSERT INTO account (id, name) VALUES (?, ?)', [randomUUID(), name]);
    expect(await database.query('SELECT name FROM account WHERE name = ?', [name])).toEqual([{ name }]);
  });

  // Three that wait for deadlines.
  it.concurrent('is ended when it takes too long', async () => {
    // A minute is longer than a test may take.
    await expect(database.query('SELECT pg_sleep(60)')).rejects.toThrow('canceling statement due to statement timeout');
    await database.ping();
  });

  it.concurrent('fails when the database stops responding', async () => {
    await using lonely = await createTestDatabase();
    const url = new URL(lonely.url);
    await using proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
    url.host = `127.0.0.1:${proxy.port}`;
    await using through = await openDatabase({
      entities: coreEntities,
      url: url.href,
      dataFolder: tmpdir(),
      log: silentLog,
      mode: 'command',
      isShared: true,
    });
    await through.ping();
    proxy.turn('stall');
    try {
      // Only the database, which does not hear of it, has a shorter deadline.
      await expect(through.query('SELECT 1')).rejects.toThrow('Query read timeout');
    } finally {
      proxy.turn('cut');
    }
  });

  it.concurrent('does not wait for a lock for long', async () => {
    await using other = await openDatabase({
      entities: coreEntities,
      url: database.url,
      dataFolder: tmpdir(),
      log: silentLog,
      mode: 'command',
      isShared: true,
    });
    const held = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holding = other.fork().transactional(async (manager) => {
      await manager.getConnection().execute('LOCK TABLE api_key', [], 'all', manager.getTransactionContext());
      held.resolve();
      await release.promise;
    });
    await held.promise;
    try {
      await expect(database.query('SELECT 1 FROM api_key')).rejects.toThrow(/lock timeout/);
    } finally {
      release.resolve();
      await holding;
    }
  });

  it('is answered again after all connections were cut', async () => {
    await using lonely = await createTestDatabase();
    await Promise.all(Array.from({ length: 5 }, () => lonely.ping()));
    await cutConnections(lonely);
    await vi.waitFor(() => lonely.ping(), { timeout: 15_000 });
  });
});

describe('the ledger of paid time', () => {
  it.each([
    ['an update', 'UPDATE plan_period SET days = 300'],
    ['a delete', 'DELETE FROM plan_period'],
    ['the removal of an account with entries', 'DELETE FROM account WHERE id IN (SELECT account_id FROM plan_period)'],
    ['being emptied', 'TRUNCATE plan_period CASCADE'],
    ['being emptied with its accounts', 'TRUNCATE account CASCADE'],
  ])('refuses %s', async (_name, sql) => {
    const id = await addAccount();
    await database.query(
      `INSERT INTO plan_period (id, account_id, starts_at, ends_at, days, reason)
       VALUES (?, ?, now(), now() + interval '3 days', 3, 'grant')`,
      [randomUUID(), id],
    );
    await expect(database.query(sql)).rejects.toThrow(/append-only|violates/);
    expect(await database.query('SELECT days FROM plan_period WHERE account_id = ?', [id])).toEqual([{ days: 3 }]);
  });

  it.each([
    ['no days', "now(), now() + interval '1 day', 0"],
    ['an end before its begin', "now(), now() - interval '1 day', 1"],
  ])('refuses an entry with %s', async (_name, values) => {
    const id = await addAccount();
    await expect(
      database.query(
        `INSERT INTO plan_period (id, account_id, starts_at, ends_at, days, reason) VALUES (?, ?, ${values}, 'grant')`,
        [randomUUID(), id],
      ),
    ).rejects.toThrow(/check constraint/);
  });
});

describe('a notification', () => {
  it('comes when the change is committed, not before', async () => {
    const id = await addAccount();
    const heard: string[] = [];
    const told = Promise.withResolvers<void>();
    const stop = await database.notifications.listen(
      'account',
      (payload) => {
        heard.push(payload);
        if (payload === id) told.resolve();
      },
      () => undefined,
    );
    const marker = randomUUID();
    await database.fork().transactional(async (manager) => {
      await manager.getConnection().execute(
        `INSERT INTO plan_period (id, account_id, starts_at, ends_at, days, reason)
           VALUES (?, ?, now(), now() + interval '1 day', 1, 'grant')`,
        [randomUUID(), id],
        'run',
        manager.getTransactionContext(),
      );
      // Comes after all that was sent before, so it shows that nothing of the transaction was.
      const marked = Promise.withResolvers<void>();
      const end = await database.notifications.listen(
        'marker',
        () => marked.resolve(),
        () => undefined,
      );
      await database.query("SELECT pg_notify('marker', ?)", [marker]);
      await marked.promise;
      end();
      expect(heard).not.toContain(id);
    });
    await told.promise;
    stop();
  });

  it('does not come when the change is undone', async () => {
    const id = await addAccount();
    const heard: string[] = [];
    const last = Promise.withResolvers<void>();
    const stop = await database.notifications.listen(
      'account',
      (payload) => {
        heard.push(payload);
        if (payload === 'last') last.resolve();
      },
      () => undefined,
    );
    await expect(
      database.fork().transactional(async (manager) => {
        await manager
          .getConnection()
          .execute("SELECT pg_notify('account', ?)", [id], 'run', manager.getTransactionContext());
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
    await database.query("SELECT pg_notify('account', 'last')");
    await last.promise;
    expect(heard).not.toContain(id);
    stop();
  });

  it('does not come to those who have stopped listening', async () => {
    const stopped = vi.fn<(payload: string) => void>();
    const heard = Promise.withResolvers<string>();
    const stop = await database.notifications.listen('some', stopped, () => undefined);
    stop();
    const end = await database.notifications.listen('some', heard.resolve, () => undefined);
    await database.query("SELECT pg_notify('some', 'later')");
    expect(await heard.promise).toBe('later');
    expect(stopped).not.toHaveBeenCalled();
    end();
  });

  it('resumes after the connection was cut, and the gap is reported', async () => {
    await using lonely = await createTestDatabase();
    const gap = Promise.withResolvers<void>();
    const heard = Promise.withResolvers<string>();
    await lonely.notifications.listen('news', heard.resolve, gap.resolve);
    await lonely.notifications.listen(
      'other',
      () => undefined,
      () => undefined,
    );
    expect(lonely.notifications.isConnected).toBe(true);
    await cutConnections(lonely, 'daypass-listener');
    await gap.promise;
    expect(lonely.notifications.isConnected).toBe(true);
    await lonely.query("SELECT pg_notify('news', 'back')");
    expect(await heard.promise).toBe('back');
  });

  it('is missed for some seconds at most when the connection is dropped without a word', async () => {
    await using lonely = await createTestDatabase();
    const { hostname, port } = new URL(lonely.url);
    await using proxy = await createTcpProxy({ host: hostname, port: Number(port) });
    const url = new URL(lonely.url);
    url.host = `127.0.0.1:${proxy.port}`;
    await using notifications = new PostgresNotifications(url.href, silentLog, false, {
      intervalMs: 5,
      timeoutMs: 200,
    });
    const gap = Promise.withResolvers<void>();
    const heard = Promise.withResolvers<string>();
    await notifications.listen('news', heard.resolve, gap.resolve);
    proxy.freeze();
    await gap.promise;
    await lonely.query("SELECT pg_notify('news', 'back')");
    expect(await heard.promise).toBe('back');
  });

  it('counts on none from a connection that answers and delivers nothing', async () => {
    await using lonely = await createTestDatabase();
    const warned: string[] = [];
    const log = { ...silentLog, warn: (line: string) => void warned.push(line) };
    const url = new URL(lonely.url);
    await execute(lonely.url, 'CREATE SCHEMA mute');
    await execute(lonely.url, 'CREATE FUNCTION mute.pg_notify(text, text) RETURNS void LANGUAGE sql AS $$ SELECT $$');
    url.searchParams.set('options', '-c search_path=mute,pg_catalog,public');
    await using notifications = new PostgresNotifications(url.href, log, false, { intervalMs: 5, timeoutMs: 100 });
    await notifications.listen('news', vi.fn(), vi.fn());
    expect([notifications.isConnected, warned]).toEqual([
      false,
      [expect.stringContaining('delivers no notifications')],
    ]);
    await execute(lonely.url, 'DROP SCHEMA mute CASCADE');
    await vi.waitFor(() => expect(notifications.isConnected).toBe(true), { interval: 5, timeout: 15_000 });
  });

  it('reaches those who began to listen while the connection was down', async () => {
    await using lonely = await createTestDatabase();
    const gap = Promise.withResolvers<void>();
    await lonely.notifications.listen('news', () => undefined, gap.resolve);
    await cutConnections(lonely, 'daypass-listener');
    await vi.waitFor(() => expect(lonely.notifications.isConnected).toBe(false), { interval: 1, timeout: 15_000 });
    const heard = Promise.withResolvers<string>();
    await lonely.notifications.listen('late', heard.resolve, () => undefined);
    await gap.promise;
    await lonely.query("SELECT pg_notify('late', 'heard')");
    expect(await heard.promise).toBe('heard');
  });
});
