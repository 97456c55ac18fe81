import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { rotateKey } from '#core/business/accounts/account-key.ts';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { digestApiKey, generateApiKey } from '#core/business/accounts/api-key.ts';
import { AccountDirectory } from '#core/business/accounts/directory.ts';
import { grantDays } from '#core/business/accounts/ledger.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';

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
  answers = 0;
  now = 0; // ms
  step = 0; // ms by which the database's clock was set
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
          const rows = await database.query<{ read_at: number }>(sql, parameters);
          this.answers++;
          await this.hold;
          return rows.map((row) => ({ ...row, read_at: row.read_at + this.now + this.step })) as never;
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

describe('an account look-up', () => {
  it('finds the account of a key', async () => {
    await expect(directory.findByDigest(digest)).resolves.toMatchObject({ id: accountId, name: 'Ani' });
  });

  it('is synchronous the second time', async () => {
    await directory.findByDigest(digest);
    expect(directory.findByDigest(digest)).toMatchObject({ id: accountId });
    expect(line.queries).toBe(1);
  });

  it('by id uses what the look-up by key has read', async () => {
    await directory.findByDigest(digest);
    expect(directory.findById(accountId)).toMatchObject({ id: accountId });
  });

  it('sends one query for a hundred look-ups of one key', async () => {
    const found = await Promise.all(Array.from({ length: 100 }, () => directory.findByDigest(digest)));
    expect(found.every((account) => account?.id === accountId)).toBe(true);
    expect(line.queries).toBe(1);
  });

  it('reads an entry again once it is older than wanted', async () => {
    await directory.findById(accountId, 60);
    line.now += 59_999;
    expect(directory.findById(accountId, 60)).not.toBeInstanceOf(Promise);
    line.now += 1;
    expect(directory.findById(accountId, 60)).toBeInstanceOf(Promise);
  });

  it('finds nothing by an id that is not a UUID', async () => {
    await expect(directory.findById(`' or 1=1`)).resolves.toBeUndefined();
  });
});

describe('an unknown id', () => {
  it('of an account that is created during its look-up is looked up again', async () => {
    const [id, { promise, resolve }] = [randomUUIDv7(), Promise.withResolvers<void>()];
    line.hold = promise;
    const lookup = directory.findById(id);
    await vi.waitFor(() => expect(line.answers).toBe(1));
    await database.query(`INSERT INTO account (id, name) VALUES (?, 'Budi')`, [id]);
    line.notify(id);
    resolve();
    await expect(lookup).resolves.toBeUndefined();
    await expect(directory.findById(id)).resolves.toMatchObject({ name: 'Budi' });
  });
});

describe('an unknown key', () => {
  it('is looked up once in ten seconds', async () => {
    const nobody = unknown();
    await expect(directory.findByDigest(nobody)).resolves.toBeUndefined();
    expect(directory.findByDigest(nobody)).toBeUndefined();
    line.now += 10_000;
    await expect(directory.findByDigest(nobody)).resolves.toBeUndefined();
    expect(line.queries).toBe(2);
  });

  it('causes a handful of queries in a flood of a thousand', async () => {
    await Promise.all(Array.from({ length: 1_000 }, () => directory.findByDigest(unknown())));
    expect(line.queries).toBe(5);
  });
});

describe('a change of an account', () => {
  it('takes effect at once when the database notifies of it', async () => {
    await directory.findByDigest(digest);
    await grantDays(database, accountId, { days: 1 });
    line.notify(accountId);
    expect((await directory.findById(accountId))?.periods).toHaveLength(1);
  });

  it('keeps other accounts cached', async () => {
    await directory.findByDigest(digest);
    line.notify('00000000-0000-7000-8000-000000000000');
    expect(directory.findByDigest(digest)).not.toBeInstanceOf(Promise);
  });

  it('revokes the old key even when only the account is read again', async () => {
    await directory.findByDigest(digest);
    await rotateKey(database, 'dp', accountId);
    line.notify(accountId);
    await directory.findById(accountId);
    expect(await directory.findByDigest(digest)).toBeUndefined();
  });

  it('during a look-up keeps the old state out of the cache', async () => {
    const held = Promise.withResolvers<void>();
    line.hold = held.promise;
    const early = directory.findByDigest(digest);
    await vi.waitFor(() => expect(line.queries).toBe(1), { timeout: 15_000 });
    line.notify(accountId);
    held.resolve();
    await early;
    expect(directory.findByDigest(digest)).toBeInstanceOf(Promise);
  });

  it('arrives from a real database', async () => {
    await using real = new AccountDirectory({ database, log: { info() {}, warn() {}, error() {} } });
    await real.ready();
    await real.findByDigest(digest);
    await rotateKey(database, 'dp', accountId);
    await vi.waitFor(async () => expect(await real.findByDigest(digest)).toBeUndefined(), { timeout: 15_000 });
  });
});

describe('a call after a pause', () => {
  const pause = 3_600_000;

  it('does not wait for the database, which has reported no change', async () => {
    await directory.findByDigest(digest);
    line.now += pause;
    expect(directory.findByDigest(digest)).toMatchObject({ id: accountId });
    expect(directory.findCachedById(accountId)).toMatchObject({ id: accountId });
  });

  it('has the account read again, once', async () => {
    await directory.findByDigest(digest);
    line.now += pause;
    for (let call = 0; call < 5; call++) void directory.findByDigest(digest);
    void directory.findCachedById(accountId);
    await vi.waitFor(() => expect(directory.findCachedById(accountId)).toMatchObject({ queriedAt: pause }), {
      timeout: 15_000,
    });
    expect(line.queries).toBe(2);
  });

  it('finds what was changed without a notification when it is read again', async () => {
    await directory.findByDigest(digest);
    await rotateKey(database, 'dp', accountId);
    line.now += pause;
    expect(directory.findByDigest(digest)).toMatchObject({ id: accountId });
    await vi.waitFor(async () => expect(await directory.findByDigest(digest)).toBeUndefined(), { timeout: 15_000 });
  });

  it('waits where nothing is to be cached', async () => {
    await directory.findByDigest(digest, 0);
    expect(directory.findByDigest(digest, 0)).toBeInstanceOf(Promise);
  });

  it('waits after a day', async () => {
    await directory.findByDigest(digest);
    line.now += 24 * pause;
    expect(directory.findByDigest(digest)).toBeInstanceOf(Promise);
  });
});

describe('while notifications are down', () => {
  it('an entry is fresh for a second', async () => {
    await directory.findByDigest(digest);
    line.isConnected = false;
    line.now += 999;
    expect(directory.findByDigest(digest)).not.toBeInstanceOf(Promise);
    line.now += 1;
    expect(directory.findByDigest(digest)).toBeInstanceOf(Promise);
  });

  it('a rotated key is refused after that second', async () => {
    await directory.findByDigest(digest);
    line.isConnected = false;
    await rotateKey(database, 'dp', accountId);
    line.now += 1_000;
    expect(await directory.findByDigest(digest)).toBeUndefined();
  });

  it('a key rotated while the real connection is down is refused', async () => {
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

  it('the return of notifications makes every entry stale', async () => {
    await directory.findByDigest(digest);
    line.gap();
    expect(directory.findByDigest(digest)).toBeInstanceOf(Promise);
  });
});

describe('while the database does not answer', () => {
  const refused = new Error('connect ECONNREFUSED');

  // Nor does it notify.
  beforeEach(() => {
    line.isConnected = false;
  });

  it('cached accounts are used', async () => {
    await directory.findByDigest(digest);
    line.failure = refused;
    line.now += 3_600_000;
    await expect(directory.findByDigest(digest)).resolves.toMatchObject({ id: accountId });
  });

  it('only the first look-up waits for it', async () => {
    await directory.findByDigest(digest);
    line.failure = refused;
    line.now += 3_600_000;
    await directory.findByDigest(digest);
    expect(directory.findByDigest(digest)).toMatchObject({ id: accountId });
    expect(directory.findById(accountId)).toMatchObject({ id: accountId });
  });

  it('cached accounts are used for a day and no longer', async () => {
    await directory.findByDigest(digest);
    line.failure = refused;
    line.now += 24 * 3_600_000;
    await expect(directory.findByDigest(digest)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('unknown callers get 503 with Retry-After', async () => {
    line.failure = refused;
    await expect(directory.findByDigest(digest)).rejects.toMatchObject({
      code: 'unavailable',
      details: { retryAfter: 2 },
      cause: refused,
    });
  });

  it('only one look-up per second is tried', async () => {
    line.failure = refused;
    await Promise.allSettled([directory.findByDigest(digest)]);
    for (let index = 0; index < 50; index++) expect(() => directory.findByDigest(digest)).toThrow('Try again');
    line.now += 999;
    expect(() => directory.findByDigest(digest)).toThrow('Try again');
    line.now += 1;
    await Promise.allSettled([directory.findByDigest(digest)]);
    expect(line.queries).toBe(2);
  });

  it('an id that no account can have does not end the outage, because it is not looked up', async () => {
    await directory.findByDigest(digest);
    line.failure = refused;
    line.now += 60_000;
    await directory.findByDigest(digest);
    line.now += 1_000;
    await directory.findById('nobody');
    expect(line.logged).toHaveLength(1);
    expect(directory.findByDigest(digest)).toMatchObject({ id: accountId });
  });

  it('the log reports it once, and its end once', async () => {
    await directory.findByDigest(digest);
    line.failure = refused;
    for (let index = 0; index < 5; index++) {
      line.now += 60_000;
      await directory.findByDigest(digest);
    }
    line.failure = undefined;
    const before = line.queries;
    await vi.waitFor(
      async () => {
        // Not while one reads: the clocks would seem to have moved against each other.
        if (line.queries === before) {
          line.now += 60_000;
          await directory.findByDigest(digest);
        }
        expect(line.logged).toHaveLength(2);
      },
      { timeout: 15_000 },
    );
    expect(line.logged[1]).toBe('accounts can be read again');
  });

  it('a lookup that hangs times out', async () => {
    line.hold = new Promise(() => {});
    await expect(directory.findByDigest(digest)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('the clock of the database', () => {
  const hour = 3_600_000;

  it.each([hour, -hour])('when it was set by %i ms, what was read before is forgotten', async (step) => {
    const other = await createAccount(database, 'dp', { name: 'Budi' });
    await directory.findById(accountId);
    line.step = step;
    await directory.findById(other.accountId);
    const { queries } = line;
    const account = await directory.findById(accountId);
    expect([line.queries, line.logged]).toEqual([
      queries + 1,
      [expect.stringContaining(`the database's clock jumped by ${step / 1000} s`)],
    ]);
    expect(Math.abs((account?.readAt ?? 0) - Date.now() - step)).toBeLessThan(60_000);
  });

  it('may differ a little between look-ups without another query', async () => {
    const other = await createAccount(database, 'dp', { name: 'Budi' });
    await directory.findById(accountId);
    line.step = 1_500;
    await directory.findById(other.accountId);
    const { queries } = line;
    await directory.findById(accountId);
    expect([line.queries, line.logged]).toEqual([queries, []]);
  });

  it.each([0.01, -0.01])(
    'may run at another rate, here by %d, and the end of a plan stays right to a second',
    async (rate) => {
      let account = await directory.findById(accountId);
      const { queries } = line;
      for (let minute = 1; minute <= 60; minute++) {
        if (account === undefined) throw new Error('the account is there');
        line.now += 60_000;
        line.step = line.now * rate;
        const error = directory.databaseTime(account) - (account.readAt + 60_000 * (1 + rate));
        expect(Math.abs(error)).toBeLessThan(1_000);
        account = await directory.findById(accountId);
      }
      expect([line.queries - queries, line.logged]).toEqual([60, []]);
    },
  );

  it('advances with the local clock from the look-up on', async () => {
    const account = await directory.findById(accountId);
    if (account === undefined) throw new Error('the account is there');
    line.now += 5_000;
    expect(directory.databaseTime(account)).toBe(account.readAt + 5_000);
  });
});

/** Waits for as many keys as fit, and one batch that is in flight. */
async function overload() {
  await directory.findByDigest(digest);
  line.now += 2_000;
  const gate = Promise.withResolvers<void>();
  line.hold = gate.promise;
  const lookups = Array.from({ length: 201 }, () => directory.findByDigest(unknown()));
  await vi.waitFor(() => expect(line.answers).toBe(2));
  lookups.push(...Array.from({ length: bounds.waitingLookups }, () => directory.findByDigest(unknown())));
  const ended = Promise.allSettled(lookups);
  return { end: () => (gate.resolve(), ended) };
}

describe('while too many lookups wait for the database', () => {
  it('an account is served from memory if its changes would have been reported', async () => {
    const { end } = await overload();
    await expect(directory.findByDigest(digest, 0)).resolves.toMatchObject({ id: accountId });
    await end();
  });

  it('an account whose changes may have been missed is not served, because it may be blocked', async () => {
    const { end } = await overload();
    line.isConnected = false;
    await expect(directory.findByDigest(digest)).rejects.toMatchObject({ code: 'unavailable' });
    line.isConnected = true;
    line.gap();
    await expect(directory.findByDigest(digest, 0)).rejects.toMatchObject({ code: 'unavailable' });
    await end();
  });
});
