import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { isOperatorAddress } from '#core/config/sections/operators-section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { AccountError } from './account-error.ts';
import { recordEvent } from './account-events.ts';
import { insertAccount, isEmailTaken } from './accounts.ts';
import type { Row } from '#core/platform/database/rows.ts';
import { oneLine } from '#core/platform/one-line.ts';
import type { Account, LinkedIdentity } from './entities.ts';

/** A person as a sign-in provider knows them. */
export interface SignInProfile {
  /** Name of the provider: `google`, `github`, `local`. */
  readonly provider: string;
  /** The provider's id of the person. */
  readonly subject: string;
  /** Undefined unless the provider has verified it: an unverified address would let its claimant take an account over. */
  readonly email: string | undefined;
  readonly name: string;
  readonly avatarUrl: string | undefined;
}

/** What an identity is found by. */
export type IdentityKey = Pick<SignInProfile, 'provider' | 'subject'>;

/** Reason for rejecting a sign-in. */
export type SignInRefusal = 'email_taken' | 'blocked';

type SignInOutcome =
  | { readonly accountId: string; readonly isNew: boolean; readonly refused?: undefined }
  | { readonly refused: SignInRefusal };

type AccountHost = Pick<Host, 'database' | 'section' | 'service'>;

/** Local sign-in verifies no addresses, so it never takes over an existing account. */
const unverified = 'local';

/**
 * The account of this identity. For an unknown identity, creates an account with a key that was never shown (see `revealKey`).
 * Accounts are found by provider and subject, never by e-mail address: an address of another account is refused, and only
 * that account's owner can link the identity, while signed in. The exception is an account without a sign-in that the operator
 * created: it belongs to the first verified owner of its address.
 */
export async function signInWith(host: AccountHost, profile: SignInProfile): Promise<SignInOutcome> {
  const person = cleanProfile(profile);
  try {
    return await host.database.fork().transactional(async (transaction) => {
      await lockIdentity(transaction, person);
      const owner = await readOwner(transaction, person);
      if (owner !== undefined) return await useIdentity(host, transaction, owner, person);
      const claimed = await claimAccount(transaction, person);
      if (claimed !== undefined) return claimed;
      const { name, email, avatarUrl } = person;
      const account = { name, email, avatarUrl, isKeyShown: false };
      const { accountId } = await insertAccount(transaction, host.service.prefix, account);
      await insertIdentity(transaction, accountId, person);
      return { accountId, isNew: true };
    });
  } catch (error) {
    if (error instanceof AccountError && error.kind === 'email_taken') return { refused: 'email_taken' };
    if (isEmailTaken(error)) return { refused: 'email_taken' };
    throw error;
  }
}

interface IdentityOwner {
  readonly accountId: string;
  readonly isBlocked: boolean;
}

/**
 * Serializes changes of an identity: two concurrent first sign-ins would otherwise create two accounts. Locked before the rows of
 * accounts.
 */
export async function lockIdentity(transaction: EntityManager, { provider, subject }: IdentityKey): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [
    JSON.stringify(['identity', provider, subject]),
  ]);
}

interface Blocking {
  readonly is_blocked: boolean;
}

export async function readOwner(
  transaction: EntityManager,
  { provider, subject }: IdentityKey,
): Promise<IdentityOwner | undefined> {
  const [row] = await transaction.execute<(Row<typeof LinkedIdentity, 'account_id'> & Blocking)[]>(
    `select i.account_id, (a.blocked_at is not null and a.paused_at is null or a.deleted_at is not null) as is_blocked
     from identity i join account a on a.id = i.account_id where i.provider = ? and i.subject = ?`,
    [provider, subject],
  );
  return row === undefined ? undefined : { accountId: row.account_id, isBlocked: row.is_blocked };
}

export async function insertIdentity(
  transaction: EntityManager,
  accountId: string,
  { provider, subject, email, name }: SignInProfile,
): Promise<void> {
  await transaction.execute(
    'insert into identity (provider, subject, account_id, email, name) values (?, ?, ?, ?, ?)',
    [provider, subject, accountId, email ?? null, name],
  );
}

/** Accounts that conflict with an address under either unique index. Takes the address twice. */
const ofAddress = `select from account where lower(email) = lower(?)
  union all select from account where lower(email collate "C") = lower(?::text collate "C")`;

/**
 * Links an account without identities to the first identity whose verified address it has, but for the case of ASCII letters: Unicode
 * folds others to them, such as the Kelvin sign to `k`, whose mailbox is another one.
 */
async function claimAccount(transaction: EntityManager, person: SignInProfile): Promise<SignInOutcome | undefined> {
  if (person.email === undefined || person.provider === unverified) return undefined;
  const [account] = await transaction.execute<(Row<typeof Account, 'id'> & Blocking)[]>(
    `select id, blocked_at is not null and paused_at is null as is_blocked from account
     where lower(email collate "C") = lower(?::text collate "C")
     order by lower(email) = lower(?) desc, created_at limit 1 for update`,
    [person.email, person.email],
  );
  if (account === undefined) return undefined;
  // A statement after the lock: it sees the identity of a sign-in that held the lock before.
  const identities = await transaction.execute<unknown[]>('select from identity where account_id = ? limit 1', [
    account.id,
  ]);
  if (identities.length > 0) return { refused: 'email_taken' };
  if (account.is_blocked) return { refused: 'blocked' };
  await insertIdentity(transaction, account.id, person);
  return { accountId: account.id, isNew: false };
}

/**
 * Gives an account without an e-mail address the one of its identity, unless another account has it. Never an operator's: operator
 * rights follow addresses.
 */
export async function adoptEmail(
  host: Pick<Host, 'section'>,
  transaction: EntityManager,
  accountId: string,
  email: string | undefined,
): Promise<void> {
  if (email === undefined || isOperatorAddress(host, email)) return;
  await transaction.execute(
    `update account set email = ? where id = ? and email is null
       and not exists (${ofAddress})`,
    [email, accountId, email, email],
  );
}

/**
 * Lets the address of an account follow the identity that it came from, when the verified address of that identity itself has
 * changed and no other account has the new one. The former address gets a mail.
 */
async function followEmail(
  host: Pick<Host, 'section'>,
  transaction: EntityManager,
  accountId: string,
  { provider, subject, email }: SignInProfile,
): Promise<void> {
  if (email === undefined || provider === unverified || isOperatorAddress(host, email)) return;
  const changed = await transaction.execute<unknown[]>(
    `update account a set former_email = a.email, email = ?
     from identity i where a.id = ? and i.account_id = a.id and i.provider = ? and i.subject = ?
       and lower(i.email) = lower(a.email) and lower(a.email) <> lower(?)
       and not exists (${ofAddress}) returning 1`,
    [email, accountId, provider, subject, email, email, email],
  );
  if (changed.length > 0) await recordEmailChange(transaction, accountId);
}

/** Reports a changed address, in the transaction of the change. The addresses are in the account. */
export async function recordEmailChange(transaction: EntityManager, accountId: string): Promise<void> {
  await recordEvent(transaction, 'account.email_changed', { accountId }, `account.email_changed:${randomUUIDv7()}`);
}

async function useIdentity(
  host: Pick<Host, 'section'>,
  transaction: EntityManager,
  { accountId, isBlocked }: IdentityOwner,
  person: SignInProfile,
): Promise<SignInOutcome> {
  if (isBlocked) return { refused: 'blocked' };
  const { provider, subject, email, name } = person;
  await followEmail(host, transaction, accountId, person);
  await transaction.execute(
    'update identity set email = ?, name = ?, last_used_at = clock_timestamp() where provider = ? and subject = ?',
    [email ?? null, name, provider, subject],
  );
  await adoptEmail(host, transaction, accountId, email);
  return { accountId, isNew: false };
}

const maxName = 100; // characters
const maxEmail = 320;
const maxUrl = 2_000;

/** One line without control characters, of bounded length: providers send user input. */
export function cleanProfile(profile: SignInProfile): SignInProfile {
  const email = oneLine(profile.email ?? '');
  const avatarUrl = profile.avatarUrl ?? '';
  return {
    provider: profile.provider,
    subject: profile.subject,
    email: /^[^@\s]+@[^@\s]+$/.test(email) && email.isWellFormed() && email.length <= maxEmail ? email : undefined,
    name: cleanName(profile.name) || cleanName(email.split('@')[0] ?? '') || profile.provider,
    avatarUrl: /^https:\/\/[^\s\p{Cc}\p{Cs}]+$/u.test(avatarUrl) && avatarUrl.length <= maxUrl ? avatarUrl : undefined,
  };
}

function cleanName(text: string): string {
  return oneLine(text).slice(0, maxName).toWellFormed();
}
