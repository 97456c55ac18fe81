import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { findAccountByHandle } from '#core/business/accounts/account-list.ts';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { findDuplicateAddresses, ensureUniqueAddresses } from '#core/business/accounts/duplicate-addresses.ts';
import { signInWithProfile } from '#core/business/accounts/identities.ts';
import { openDatabase, type OpenedDatabase } from '#core/platform/database/open.ts';
import { databaseDiagnoses } from '#core/process/doctor/database.ts';
import { coreEntities } from '#core/process/entities.ts';
import { dropDatabase, silentLog } from '../../../support/database.ts';
import { execute, withDatabase } from '../../../support/global-postgres.ts';
import { createStageHost } from './fixture.ts';

let url: string;
let database: OpenedDatabase;

async function open(): Promise<OpenedDatabase> {
  return openDatabase({
    url,
    dataFolder: tmpdir(),
    log: silentLog,
    mode: 'command',
    isShared: true,
    entities: coreEntities,
  });
}

beforeEach(async () => {
  const name = `daypass_turkish_${randomBytes(4).toString('hex')}`;
  await execute(
    inject('postgresUrl'),
    `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'tr-TR' LOCALE 'C.UTF-8'`,
  );
  url = withDatabase(inject('postgresUrl'), name);
  database = await open();
});
afterEach(async () => {
  await database?.[Symbol.asyncDispose]();
  await dropDatabase(url);
});

describe('a database with a Turkish collation', () => {
  it('folds I to a letter that is not i', async () => {
    expect(await database.query(`SELECT lower('I') AS letter`)).toEqual([{ letter: 'ı' }]);
  });

  it('has one account for an address, whatever the case of its letters', async () => {
    const { accountId } = await createAccount(database, 'dp', { name: 'Ani', email: 'INFO@example.com' });
    await expect(createAccount(database, 'dp', { name: 'Budi', email: 'info@example.com' })).rejects.toMatchObject({
      kind: 'email_taken',
    });
    const host = Object.assign(createStageHost(database), { section: (() => []) as never });
    expect((await findAccountByHandle(host, 'Info@Example.com')).id).toBe(accountId);
    const person = { provider: 'google', name: 'Ani', avatarUrl: undefined } as const;
    const first = { ...person, subject: 'one', email: 'info@example.com' };
    expect(await signInWithProfile(host, first)).toMatchObject({ accountId });
    expect(await signInWithProfile(host, { ...person, subject: 'two', email: 'iNFO@example.com' })).toMatchObject({
      refused: 'email_taken',
    });
    // The address of an identity changes to one that is taken: the account keeps its own, and its owner is let in.
    const other = { ...person, subject: 'three', email: 'other@example.com' };
    await signInWithProfile(host, other);
    expect(await signInWithProfile(host, { ...other, email: 'Info@example.com' })).not.toHaveProperty(
      'refused',
      'email_taken',
    );
  });

  it('gets its unique index from one of two instances that start at once', async () => {
    await database.query('DROP INDEX account_email_ascii');
    const create = 'CREATE UNIQUE INDEX account_email_ascii ON account (lower(email COLLATE "C"))';
    const { promise: committed, resolve: commit } = Promise.withResolvers<void>();
    const { promise: created, resolve: report } = Promise.withResolvers<void>();
    const other = database.fork().transactional(async (transaction) => {
      await transaction.execute(create);
      report();
      await committed;
    });
    await created;
    const ensured = ensureUniqueAddresses(database, silentLog);
    const waiting = `SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'CREATE UNIQUE INDEX%'`;
    await vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(1), 5_000);
    commit();
    await other;
    await expect(ensured).resolves.toBeUndefined();
  });

  it('with two accounts for one address is migrated, and names them until an operator has decided', async () => {
    // As a version before has left it.
    await database.query('DROP INDEX IF EXISTS account_email_ascii');
    await database.query(`DELETE FROM migration WHERE name LIKE '%ascii_addresses'`);
    const first = await createAccount(database, 'dp', { name: 'Citra', email: 'CITRA@EXAMPLE.COM' });
    const second = await createAccount(database, 'dp', { name: 'Citra', email: 'citra@example.com' });
    await database[Symbol.asyncDispose]();
    database = await open();
    const duplicates = [{ ids: [first.accountId, second.accountId] }];
    expect(await findDuplicateAddresses(database)).toEqual(duplicates);
    const lines: string[] = [];
    const log = { ...silentLog, warn: (line: string) => void lines.push(line) };
    await ensureUniqueAddresses(database, log);
    expect(lines).toEqual([
      `accounts ${first.accountId} and ${second.accountId} have email addresses that differ only in case: change or delete all but one`,
    ]);
    const [, migrations] = databaseDiagnoses({ DATABASE_URL: url }, []);
    const [check] = migrations?.checks(createStageHost(database) as never) ?? [];
    expect(await check?.run(AbortSignal.timeout(10_000))).toMatchObject({
      state: 'warning',
      text: `accounts with the same e-mail address: ${first.accountId} and ${second.accountId}`,
    });
    await database.query(`UPDATE account SET email = 'other.citra@example.com' WHERE id = ?`, [second.accountId]);
    await ensureUniqueAddresses(database, log);
    expect(lines).toHaveLength(1);
    await expect(createAccount(database, 'dp', { name: 'Citra', email: 'Citra@example.com' })).rejects.toMatchObject({
      kind: 'email_taken',
    });
  });
});
