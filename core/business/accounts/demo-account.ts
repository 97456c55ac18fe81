import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Host } from '#core/gateway/host/host.ts';
import { type AccountRecord, activePeriod, readAccounts } from './account-record.ts';
import type { IssuedKey } from './account-key.ts';
import { insertAccount } from './accounts.ts';
import { digestApiKey, generateApiKey, hintOfApiKey, isApiKey } from './api-key.ts';
import { grantDays, type NewPeriod } from './ledger.ts';

/** Key for pg_advisory_xact_lock, so that two instances cannot both find an empty database. */
const demoLock = 4_071_001;

const keyFile = 'demo-key';

const period = { days: 30, reason: 'grant', label: 'Demo account', note: 'demo account' } as const satisfies NewPeriod;

type DemoHost = Pick<Host, 'database' | 'dataFolder' | 'isProduction' | 'service'>;

/**
 * Creates the demo account, with which a newcomer's first call works, when the database has no account; never in production.
 *
 * Its key is the only one stored in plain text, in `demo-key` under the data folder, so that every start can print it. The file has
 * another name until the account is stored: after a crash between the two, the next start uses the key in that file.
 *
 * @returns undefined in production, while the account is blocked, and when no account has the key of the file but other accounts exist
 */
export async function ensureDemoAccount(host: DemoHost): Promise<IssuedKey | undefined> {
  if (host.isProduction) return undefined;
  const { database, service } = host;
  const path = join(host.dataFolder, keyFile);
  const draft = `${path}.new`;
  const kept = (await readKey(path, service.prefix)) ?? (await readKey(draft, service.prefix));
  const known = kept === undefined ? undefined : (await readAccounts(database, 'digest', [digestApiKey(kept)]))[0];
  if (kept !== undefined && known !== undefined) {
    await publish(draft, path);
    if (known.blockedAt !== undefined) return undefined;
    if (activePeriod(known, known.readAt) === undefined) await grantDays(database, known.id, period);
    return { accountId: known.id, key: kept, hint: hintOfApiKey(kept, service.prefix) };
  }
  const issued = await database.fork().transactional(async (transaction) => {
    await transaction.execute('select pg_advisory_xact_lock(?)', [demoLock]);
    const [taken] = await transaction.execute<unknown[]>('select 1 from account limit 1');
    if (taken !== undefined) return undefined;
    const key = kept ?? generateApiKey(service.prefix);
    if (kept === undefined) await writeKey(host.dataFolder, draft, key);
    return insertAccount(transaction, service.prefix, { name: 'Demo', key, period });
  });
  if (issued !== undefined) await publish(draft, path);
  return issued;
}

/** The demo account, by its key in the data folder; undefined in production, without such an account, and while it is blocked. */
export async function findDemoAccount(host: DemoHost): Promise<AccountRecord | undefined> {
  if (host.isProduction) return undefined;
  const key = await readKey(join(host.dataFolder, keyFile), host.service.prefix);
  if (key === undefined) return undefined;
  const [account] = await readAccounts(host.database, 'digest', [digestApiKey(key)]);
  return account?.blockedAt === undefined ? account : undefined;
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

/** Renames atomically, so that the key file exists only with a stored account's key. Does nothing without a draft. */
async function publish(draft: string, path: string): Promise<void> {
  await rename(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}
