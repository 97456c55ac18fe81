import type { EntityManager } from '@mikro-orm/postgresql';
import { AccountError } from '#core/business/accounts/account-error.ts';
import { insertAccount } from '#core/business/accounts/accounts.ts';
import { addDays, type NewPeriod } from '#core/business/accounts/ledger.ts';
import { maxDaysAhead } from '#core/business/accounts/plans.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { ImportedUser } from '../imported-user.ts';

export interface UserOutcome {
  readonly id: string;
  /** `joined`: the days were added to the account with this address. `known`: the user had been imported before. */
  readonly outcome: 'created' | 'joined' | 'known' | 'refused';
  readonly days: number;
  readonly accountId?: string | undefined;
  /** The new key; undefined if its owner sees it after signing in. */
  readonly key?: string | undefined;
  readonly reason?: string | undefined;
}

type ImportHost = Pick<Host, 'database' | 'service' | 'now'>;

interface KeyOptions {
  readonly areShown: boolean; // if false, owners see their keys after signing in
  readonly key?: string | undefined; // a key that is already on disk; default: a generated one
}

function daysUntil(end: number | undefined, now: number): number {
  // Days of 24 hours, rounded up so that no paid time is lost.
  return end === undefined ? 0 : Math.max(0, Math.ceil((end - now) / 86_400_000));
}

/** Imports each user of a source once, even if this is repeated or runs concurrently. */
export async function importUser(
  host: ImportHost,
  source: string,
  user: ImportedUser,
  keys: KeyOptions,
): Promise<UserOutcome> {
  const days = daysUntil(user.endsAt, host.now());
  const refusalReason = explainRefusal(user, days, keys);
  if (refusalReason !== undefined) return createRefusal(user, refusalReason);
  try {
    return await host.database.fork().transactional(async (transaction) => {
      await transaction.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [
        JSON.stringify(['import', source, user.id]),
      ]);
      if (await wasImported(transaction, source, user.id)) return { id: user.id, outcome: 'known', days: 0 };
      const outcome = await createOrExtendAccount(transaction, host, source, { ...user, days }, keys);
      await transaction.execute('insert into import_account (source, source_id, account_id) values (?, ?, ?)', [
        source,
        user.id,
        outcome.accountId,
      ]);
      return outcome;
    });
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    return createRefusal(user, error.message);
  }
}

export async function previewUser(
  host: ImportHost,
  source: string,
  user: ImportedUser,
  keys: KeyOptions,
): Promise<UserOutcome> {
  const days = daysUntil(user.endsAt, host.now());
  const refusalReason = explainRefusal(user, days, keys);
  if (refusalReason !== undefined) return createRefusal(user, refusalReason);
  const transaction = host.database.fork();
  if (await wasImported(transaction, source, user.id)) return { id: user.id, outcome: 'known', days: 0 };
  const owner = await findOwner(transaction, user.email);
  if (owner?.isClosed === true) return createRefusal(user, blockedAccountReason);
  return { id: user.id, outcome: owner === undefined ? 'created' : 'joined', days };
}

const blockedAccountReason = 'its address belongs to an account that is blocked';

function createRefusal({ id }: ImportedUser, reason: string): UserOutcome {
  return { id, outcome: 'refused', days: 0, reason };
}

function explainRefusal({ email }: ImportedUser, days: number, { areShown }: KeyOptions): string | undefined {
  if (days > maxDaysAhead)
    return `has ${days} days left, and an account can have at most ${maxDaysAhead} ahead: create it with daypass key create`;
  if (email === undefined && !areShown)
    return 'has no email address to sign in with: pass --keys FILE, and hand out the key';
  return undefined;
}

async function wasImported(transaction: EntityManager, source: string, id: string): Promise<boolean> {
  const rows = await transaction.execute<unknown[]>('select 1 from import_account where source = ? and source_id = ?', [
    source,
    id,
  ]);
  return rows.length > 0;
}

interface Owner {
  readonly id: string;
  readonly isClosed: boolean;
}

async function findOwner(transaction: EntityManager, email: string | undefined): Promise<Owner | undefined> {
  if (email === undefined) return undefined;
  const [row] = await transaction.execute<{ readonly id: string; readonly is_closed: boolean }[]>(
    `select id, blocked_at is not null or deleted_at is not null as is_closed from account
     where lower(email) = lower(?) or lower(email collate "C") = lower(?::text collate "C") limit 1`,
    [email, email],
  );
  return row === undefined ? undefined : { id: row.id, isClosed: row.is_closed };
}

async function createOrExtendAccount(
  transaction: EntityManager,
  { service }: ImportHost,
  source: string,
  { id, name, email, days }: ImportedUser & { readonly days: number },
  { areShown, key }: KeyOptions,
): Promise<UserOutcome> {
  const period: NewPeriod | undefined =
    days === 0 ? undefined : { days, reason: 'grant', note: `import from ${source}, user ${id}` };
  const owner = await findOwner(transaction, email);
  if (owner?.isClosed === true) throw new AccountError('email_taken', blockedAccountReason);
  if (owner !== undefined) {
    if (period !== undefined) await addDays(transaction, owner.id, period);
    return { id, outcome: 'joined', days, accountId: owner.id };
  }
  const account = await insertAccount(transaction, service.prefix, { name, email, period, key, isKeyShown: areShown });
  return { id, outcome: 'created', days, accountId: account.accountId, ...(areShown && { key: account.key }) };
}
