import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAccount, rotateKey } from '#core/accounts/accounts.ts';
import { digestApiKey, generateApiKey } from '#core/accounts/api-key.ts';
import { AccountDirectory } from '#core/accounts/directory.ts';
import { grantDays } from '#core/accounts/ledger.ts';
import type { Database } from '#core/database/database.ts';
import { createTestDatabase } from '../../support/database.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

/** The database, its notifications and its failures in the hand of the test. */
class Line {
  queries = 0;
  now = 0; // ms
  isConnected = true;
  failure: Error | undefined;
  /** While set, queries wait for it. */
  hold: Promise<void> | undefined;
  readonly logged: string[] = [];
  notify: (accountId: string) => void = () => {};
  gap: () => void = () => {};

  open(): AccountDirectory {
    const isConnected = () => this.isConnected;
    return new AccountDirectory({
      clock: () => this.now,
      log: {
        info: (message) => this.logged.push(message),
        warn: (message) => this.logged.push(message),
        error: (message) => this.logged.push(message),
      },
      database: {
        query: async (sql, parameters) => {
          this.queries++;
          if (this.failure !== undefined) throw this.failure;
          const rows = await database.query(sql, parameters);
          await this.hold;
          return rows as never;
        },
        notifications: {
          get isConnected() {
            return isConnected();
          },
          listen: async (_channel, listener, onGap) => {
            this.notify = listener;
            this.gap = onGap;
            return () => {};
          },
        },
      },
    });
  }
}

let line: Line;
let directory: AccountDirectory;
let digest: string;
let accountId: string;

beforeEach(async () => {
  line = new Line();
  directory = line.open();
  await directory.ready();
  const issued = await createAccount(database, 'dp', { name: 'Ani' });
  accountId = issued.accountId;
  digest = digestApiKey(issued.key);
});

const unknown = () => digestApiKey(generateApiKey('dp'));

describe('a look-up', () => {
  it('finds the account of a key', async () => {
    await expect(directory.findByDigest(digest)).resolves.toMatchObject({ id: accountId, name: 'Ani' });
  });

  it('is answered at once from memory the second time', async () => {
    await directory.findByDigest(digest);
    expect(directory.findByDigest(digest)).toMatchObject({ id: accountId });
    expect(line.queries).toBe(1);
  });

  it('by id is answered from what the look-up by key has read', async () => {
    await directory.findByDigest(digest);
    expect(directory.findById(accountId)).toMatchObject({ id: accountId });
  });

  it('of a hundred at once for the same key asks the database once', async () => {
    const found = await Promise.all(Array.from({ length: 100 }, () => directory.findByDigest(digest)));
    expect(found.every((account) => account?.id === accountId)).toBe(true);
    expect(line.queries).toBe(1);
  });

  it('asks again once the answer is older than wanted', async () => {
    await directory.findByDigest(digest, 60);
    line.now += 59_999;
    expect(directory.findByDigest(digest, 60)).not.toBeInstanceOf(Promise);
    line.now += 1;
    expect(directory.findByDigest(digest, 60)).toBeInstanceOf(Promise);
  });

  it('finds nobody by an id that is no UUID', async () => {
    await expect(directory.findById(`' or 1=1`)).resolves.toBeUndefined();
  });
});

describe('a key that nobody has', () => {
  it('is looked up once in ten seconds', async () => {
    const nobody = unknown();
    await expect(directory.findByDigest(nobody)).resolves.toBeUndefined();
    expect(directory.findByDigest(nobody)).toBeUndefined();
    line.now += 10_000;
    await expect(directory.findByDigest(nobody)).resolves.toBeUndefined();
    expect(line.queries).toBe(2);
  });

  it('costs a flood of a thousand only a handful of queries', async () => {
    await Promise.all(Array.from({ length: 1_000 }, () => directory.findByDigest(unknown())));
    expect(line.queries).toBe(5);
  });
});

describe('a change', () => {
  it('is seen at once when the database tells of it', async () => {
    await directory.findByDigest(digest);
    await grantDays(database, accountId, { days: 1 });
    line.notify(accountId);
    expect((await directory.findById(accountId))?.periods).toHaveLength(1);
  });

  it('leaves other accounts in memory', async () => {
    await directory.findByDigest(digest);
    line.notify('00000000-0000-7000-8000-000000000000');
    expect(directory.findByDigest(digest)).not.toBeInstanceOf(Promise);
  });

  it('ends the old key even when only the account is read again', async () => {
    await directory.findByDigest(digest);
    await rotateKey(database, 'dp', accountId);
    line.notify(accountId);
    await directory.findById(accountId);
    expect(await directory.findByDigest(digest)).toBeUndefined();
  });

  it('during a look-up keeps what was read before it out of memory', async () => {
    const held = Promise.withResolvers<void>();
    line.hold = held.promise;
    const early = directory.findByDigest(digest);
    await vi.waitFor(() => expect(line.queries).toBe(1), { timeout: 15_000 });
    line.notify(accountId);
    held.resolve();
    await early;
    expect(directory.findByDigest(digest)).toBeInstanceOf(Promise);
  });

  it('is heard from a real database', async () => {
    await using real = new AccountDirectory({ database, log: { info() {}, warn() {}, error() {} } });
    await real.ready();
    await real.findByDigest(digest);
    await rotateKey(database, 'dp', accountId);
    await vi.waitFor(async () => expect(await real.findByDigest(digest)).toBeUndefined(), { timeout: 15_000 });
  });
});

describe('without notifications', () => {
  it('an answer counts for a second', async () => {
    await directory.findByDigest(digest);
    line.isConnected = false;
    line.now += 999;
    expect(directory.findByDigest(digest)).not.toBeInstanceOf(Promise);
    line.now += 1;
    expect(directory.findByDigest(digest)).toBeInstanceOf(Promise);
  });

  it('a replaced key is refused after that second', async () => {
    await directory.findByDigest(digest);
    line.isConnected = false;
    await rotateKey(database, 'dp', accountId);
    line.now += 1_000;
    expect(await directory.findByDigest(digest)).toBeUndefined();
  });

  it('a key replaced while the real connection is gone is refused all the same', async () => {
    await using real = new AccountDirectory({ database, log: { info() {}, warn() {}, error() {} } });
    await real.ready();
    await real.findByDigest(digest);
    await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'daypass-listener' and datname = current_database()`,
    );
    await rotateKey(database, 'dp', accountId);
    await vi.waitFor(async () => expect(await real.findByDigest(digest)).toBeUndefined(), { timeout: 15_000 });
  });

  it('everything is looked up again when they come back', async () => {
    await directory.findByDigest(digest);
    line.gap();
    expect(directory.findByDigest(digest)).toBeInstanceOf(Promise);
  });
});

describe('while the database does not answer', () => {
  const refused = new Error('connect ECONNREFUSED');

  it('accounts seen before are served from memory', async () => {
    await directory.findByDigest(digest);
    line.failure = refused;
    line.now += 3_600_000;
    await expect(directory.findByDigest(digest)).resolves.toMatchObject({ id: accountId });
  });

  it('only the first of them waits for it', async () => {
    await directory.findByDigest(digest);
    line.failure = refused;
    line.now += 3_600_000;
    await directory.findByDigest(digest);
    expect(directory.findByDigest(digest)).toMatchObject({ id: accountId });
    expect(directory.findById(accountId)).toMatchObject({ id: accountId });
  });

  it('they are served for a day and no longer', async () => {
    await directory.findByDigest(digest);
    line.failure = refused;
    line.now += 24 * 3_600_000;
    await expect(directory.findByDigest(digest)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('callers not seen before are told to come back', async () => {
    line.failure = refused;
    await expect(directory.findByDigest(digest)).rejects.toMatchObject({
      code: 'unavailable',
      details: { retryAfter: 2 },
    });
  });

  it('it is asked once a second', async () => {
    line.failure = refused;
    await Promise.allSettled([directory.findByDigest(digest)]);
    for (let index = 0; index < 50; index++) expect(() => directory.findByDigest(digest)).toThrow('try again');
    line.now += 1_000;
    await Promise.allSettled([directory.findByDigest(digest)]);
    expect(line.queries).toBe(2);
  });

  it('the log says so once, and once that it is over', async () => {
    await directory.findByDigest(digest);
    line.failure = refused;
    for (let index = 0; index < 5; index++) {
      line.now += 60_000;
      await directory.findByDigest(digest);
    }
    line.failure = undefined;
    await vi.waitFor(
      async () => {
        line.now += 60_000;
        await directory.findByDigest(digest);
        expect(line.logged).toHaveLength(2);
      },
      { timeout: 15_000 },
    );
    expect(line.logged[1]).toBe('accounts can be read again');
  });

  it('a look-up that hangs is given up', async () => {
    line.hold = new Promise(() => {});
    await expect(directory.findByDigest(digest)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('the time of the database', () => {
  it('goes on with the local clock from the moment of the look-up', async () => {
    const account = await directory.findById(accountId);
    if (account === undefined) throw new Error('the account is there');
    line.now += 5_000;
    expect(directory.databaseTime(account)).toBe(account.readAt + 5_000);
  });
});
