import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import { generateApiKey } from '#core/business/accounts/api-key.ts';
import { blockAccount } from '#core/business/accounts/blocking.ts';
import { ensureDemoAccount } from '#core/business/accounts/demo-account.ts';
import type { Database } from '#core/platform/database/database.ts';
import { clearDatabase, createTestDatabase } from '../../../support/database.ts';
import { createStageHost } from './fixture.ts';

let database: Database;
let dataFolder: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  await clearDatabase(database);
  dataFolder = await mkdtemp(join(tmpdir(), 'demo-account-'));
});
afterEach(async () => {
  await rm(dataFolder, { recursive: true });
});

const ensure = (folder = dataFolder, isProduction = false) => {
  const { service } = createStageHost(database);
  return ensureDemoAccount({ database, service, dataFolder: folder, isProduction });
};
const countAccounts = async () => (await database.query('select 1 from account')).length;

describe('the demo account', () => {
  it('is created with thirty days when there is no account', async () => {
    const issued = await ensure();
    const account = await findAccount(database, issued?.key ?? '');
    expect(account).toMatchObject({ id: issued?.accountId, name: 'Demo' });
    const [period] = account.periods;
    expect((period?.endsAt.getTime() ?? 0) - (period?.startsAt.getTime() ?? 0)).toBe(30 * 86_400_000);
  });

  it('is the same at every start', async () => {
    const first = await ensure();
    expect(await ensure()).toEqual(first);
    expect(await countAccounts()).toBe(1);
  });

  it('has its key in a file that only its owner can read', async () => {
    const issued = await ensure();
    const path = join(dataFolder, 'demo-key');
    expect(await readFile(path, 'utf8')).toBe(`${issued?.key}\n`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('is created in a data folder that does not exist yet', async () => {
    await expect(ensure(join(dataFolder, 'new'))).resolves.toMatchObject({ key: expect.any(String) });
  });

  it.each(['demo-key', 'demo-key.new'])('uses the key that a crashed start has left in %s', async (name) => {
    const key = generateApiKey('dp');
    await writeFile(join(dataFolder, name), `${key}\n`);
    await expect(ensure()).resolves.toMatchObject({ key });
    expect(await readdir(dataFolder)).toEqual(['demo-key']);
    expect(await ensure()).toMatchObject({ key });
  });

  it('uses the key of a start that crashed when the account was stored', async () => {
    const { key } = await createAccount(database, 'dp', { name: 'Demo' });
    await writeFile(join(dataFolder, 'demo-key.new'), `${key}\n`);
    await expect(ensure()).resolves.toMatchObject({ key });
    expect(await readdir(dataFolder)).toEqual(['demo-key']);
  });

  it.each([
    ['of a start that crashed, beside the file', 'demo-key', 'demo-key.new'],
    ['of the file, while the draft has the key of the account', 'demo-key.new', 'demo-key'],
  ])('has the key that works, not an old one: %s', async (_case, valid, stale) => {
    const { key } = await createAccount(database, 'dp', { name: 'Demo' });
    await writeFile(join(dataFolder, valid), `${key}\n`);
    await writeFile(join(dataFolder, stale), `${generateApiKey('dp')}\n`);
    await expect(ensure()).resolves.toMatchObject({ key });
    expect(await readdir(dataFolder)).toEqual(['demo-key']);
    expect(await readFile(join(dataFolder, 'demo-key'), 'utf8')).toBe(`${key}\n`);
  });

  it('has no file with its key before the key works', async () => {
    const path = join(dataFolder, 'demo-key');
    const seen: string[] = [];
    const watched: Pick<Database, 'query' | 'fork'> = {
      query: (...query) => database.query(...query),
      fork: () => {
        const fork = database.fork();
        const transactional = fork.transactional.bind(fork);
        fork.transactional = async (work) => {
          const result = await transactional(async (transaction) => {
            const made = await work(transaction);
            seen.push(...(await readdir(dataFolder)));
            return made;
          });
          return result;
        };
        return fork;
      },
    };
    const { service } = createStageHost(database);
    await ensureDemoAccount({ database: watched as Database, service, dataFolder, isProduction: false });
    expect(seen).toEqual(['demo-key.new']);
    const key = (await readFile(path, 'utf8')).trim();
    expect(await findAccount(database, key)).toMatchObject({ name: 'Demo' });
  });

  it('gets thirty days when it has none left', async () => {
    const { key } = await createAccount(database, 'dp', { name: 'Demo' });
    await writeFile(join(dataFolder, 'demo-key'), key);
    await ensure();
    expect((await findAccount(database, key)).periods).toHaveLength(1);
  });

  it('gets no days and is not shown while it is blocked', async () => {
    const { key, accountId } = await createAccount(database, 'dp', { name: 'Demo' });
    await writeFile(join(dataFolder, 'demo-key'), key);
    await blockAccount(database, accountId, 'test');
    expect(await ensure()).toBeUndefined();
    expect((await findAccount(database, key)).periods).toEqual([]);
  });

  it('is not created where other accounts exist', async () => {
    await createAccount(database, 'dp', { name: 'Ani' });
    await expect(ensure()).resolves.toBeUndefined();
    expect(await countAccounts()).toBe(1);
  });

  it('is not created in production', async () => {
    await expect(ensure(dataFolder, true)).resolves.toBeUndefined();
    expect(await countAccounts()).toBe(0);
  });

  it('is created once when two instances start at once', async () => {
    const other = await mkdtemp(join(tmpdir(), 'demo-account-'));
    const issued = await Promise.all([ensure(), ensure(other)]);
    await rm(other, { recursive: true });
    expect(issued.filter((each) => each !== undefined)).toHaveLength(1);
    expect(await countAccounts()).toBe(1);
  });
});
