import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Host } from '#core/gateway/host/host.ts';
import type { IssuedKey } from './account-key.ts';
import { type AccountRecord, findActivePeriod, readAccounts } from './account-record.ts';
import { insertAccount } from './accounts.ts';
import { digestApiKey, generateApiKey, isApiKey, maskApiKey } from './api-key.ts';
import { grantDays, type NewPeriod } from './ledger.ts';

const demoLock = 4_071_001; // advisory lock, so that two instances do not both find the database empty

const keyFile = 'demo-key';

const demoPeriod = {
  days: 30,
  reason: 'grant',
  label: 'Demo account',
  note: 'demo account',
} as const satisfies NewPeriod;

type DemoHost = Pick<Host, 'database' | 'dataFolder' | 'isProduction' | 'service'>;

/**
 * Creates a demo account in an empty database, so that a first call works out of the box. Never in production.
 *
 * Its key is the only one stored in plain text, in `demo-key` under the data folder, so that every start can print it. The key is written
 * to a draft file, which is renamed after the commit. If the process crashes in between, the next start uses the draft. If there are two
 * files, the one whose key belongs to an account is kept and the other is removed.
 *
 * @returns undefined in production, if the account is blocked, or if the database has accounts but none with the stored key
 */
export async function ensureDemoAccount(host: DemoHost): Promise<IssuedKey | undefined> {
  if (host.isProduction) return undefined;
  const { database, service } = host;
  const path = join(host.dataFolder, keyFile);
  const draftPath = `${path}.new`;
  const [fileKey, draftKey] = await Promise.all([path, draftPath].map((file) => readKey(file, service.prefix)));
  const storedKeys = [fileKey, draftKey].filter((key) => key !== undefined);
  const accounts = await Promise.all(storedKeys.map((key) => findAccountByKey(host, key)));
  const account = accounts.find((candidate) => candidate !== undefined);
  const storedKey = storedKeys[account === undefined ? 0 : accounts.indexOf(account)];
  const isFileValid = storedKey !== undefined && storedKey === fileKey;
  if (storedKey === undefined || account === undefined) {
    const issuedKey = await createDemoAccount(host, draftPath, storedKey);
    if (issuedKey !== undefined) await finalizeKeyFile(draftPath, path, isFileValid);
    return issuedKey;
  }
  await finalizeKeyFile(draftPath, path, isFileValid);
  if (account.blockedAt !== undefined) return undefined;
  if (findActivePeriod(account, account.readAt) === undefined) await grantDays(database, account.id, demoPeriod);
  return { accountId: account.id, key: storedKey, hint: maskApiKey(storedKey, service.prefix) };
}

async function createDemoAccount(
  { database, dataFolder, service }: DemoHost,
  draftPath: string,
  storedKey: string | undefined,
): Promise<IssuedKey | undefined> {
  return database.fork().transactional(async (transaction) => {
    await transaction.execute('select pg_advisory_xact_lock(?)', [demoLock]);
    const [existing] = await transaction.execute<unknown[]>('select 1 from account limit 1');
    if (existing !== undefined) return undefined;
    const key = storedKey ?? generateApiKey(service.prefix);
    if (storedKey === undefined) await writeKey(dataFolder, draftPath, key);
    return insertAccount(transaction, service.prefix, { name: 'Demo', key, period: demoPeriod });
  });
}

/**
 * Finds the demo account by the key in the data folder. Returns undefined in production, if there is no such account, or if it is blocked.
 */
export async function findDemoAccount(host: DemoHost): Promise<AccountRecord | undefined> {
  if (host.isProduction) return undefined;
  const key = await readKey(join(host.dataFolder, keyFile), host.service.prefix);
  if (key === undefined) return undefined;
  const account = await findAccountByKey(host, key);
  return account?.blockedAt === undefined ? account : undefined;
}

async function findAccountByKey({ database }: DemoHost, key: string): Promise<AccountRecord | undefined> {
  const [account] = await readAccounts(database, 'digest', [digestApiKey(key)]);
  return account;
}

async function readKey(path: string, prefix: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return isApiKey(text.trim(), prefix) ? text.trim() : undefined;
}

async function writeKey(folder: string, path: string, key: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await using file = await open(path, 'w', 0o600);
  await file.writeFile(`${key}\n`);
  await file.sync();
}

/** Call it only once the account is stored: the key file must never hold a key that does not work. */
async function finalizeKeyFile(draftPath: string, path: string, isFileValid: boolean): Promise<void> {
  if (isFileValid) return rm(draftPath, { force: true });
  await rename(draftPath, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}
