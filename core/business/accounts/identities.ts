import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { isOperatorAddress } from '#core/config/sections/operators-section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Row } from '#core/platform/database/rows.ts';
import { toOneLine } from '#core/platform/one-line.ts';
import { AccountError } from './account-error.ts';
import { recordEvent } from './account-events.ts';
import { insertAccount, isEmailTaken } from './accounts.ts';
import type { Account, LinkedIdentity } from './entities.ts';

export interface SignInProfile {
  readonly provider: string; // such as `google`, `github` or `local`
  /** The provider's id for the person. */
  readonly subject: string;
  /**
   * Undefined unless the provider has verified it: with an unverified address, anyone could take over an account. Only `local` passes
   * unverified addresses, because users of this machine are trusted not to claim someone else's address.
   */
  readonly email: string | undefined;
  readonly name: string;
  readonly avatarUrl: string | undefined;
}

export type IdentityKey = Pick<SignInProfile, 'provider' | 'subject'>;

export type SignInRefusal = 'email_taken' | 'blocked';

type SignInOutcome =
  | { readonly accountId: string; readonly isNew: boolean; readonly refused?: undefined }
  | { readonly refused: SignInRefusal };

type AccountHost = Pick<Host, 'database' | 'section' | 'service'>;

const unverifiedProvider = 'local'; // its addresses are not verified, so they never take over an account or change an address

/**
 * Signs in with an identity and returns its account. For an unknown identity, creates an account whose key was never shown (see
 * `issueFirstKey`). Accounts are found by provider and subject, never by email address. If a new identity has the address of an existing
 * account, it is refused: only that account's signed-in owner can link it. The exception is an account without identities, which an
 * operator created. It belongs to the first verified owner of its address.
 */
export async function signInWithProfile(host: AccountHost, profile: SignInProfile): Promise<SignInOutcome> {
  try {
    return await changeIdentity(host, cleanProfile(profile), async (transaction, person, owner) => {
      if (owner !== undefined) return await signInWithIdentity(host, transaction, owner, person);
      const claimOutcome = await claimAccount(transaction, person);
      if (claimOutcome !== undefined) return claimOutcome;
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

/**
 * Runs a change in a transaction that locks the identity. If another account takes the identity's address at the same moment, the change
 * runs again without touching the address.
 */
export async function changeIdentity<Outcome>(
  { database }: Pick<Host, 'database'>,
  person: SignInProfile,
  change: (transaction: EntityManager, person: SignInProfile, owner: IdentityOwner | undefined) => Promise<Outcome>,
): Promise<Outcome> {
  const run = () =>
    database.fork().transactional(async (transaction) => {
      await lockIdentity(transaction, person);
      return change(transaction, person, await readIdentityOwner(transaction, person));
    });
  return run().catch((error: unknown) => {
    if (!isEmailTaken(error)) throw error;
    return run();
  });
}

interface IdentityOwner {
  readonly accountId: string;
  readonly isBlocked: boolean;
}

/** Locks an identity: otherwise, two concurrent first sign-ins would create two accounts. Identities must be locked before accounts. */
export async function lockIdentity(transaction: EntityManager, { provider, subject }: IdentityKey): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [
    JSON.stringify(['identity', provider, subject]),
  ]);
}

interface BlockedColumn {
  readonly is_blocked: boolean;
}

/** A paused account does not count as blocked. */
export async function readIdentityOwner(
  transaction: EntityManager,
  { provider, subject }: IdentityKey,
): Promise<IdentityOwner | undefined> {
  const [row] = await transaction.execute<(Row<typeof LinkedIdentity, 'account_id'> & BlockedColumn)[]>(
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

// Both parameters are the address: one for each unique index.
const selectAddressConflicts = `select from account where lower(email) = lower(?)
  union all select from account where lower(email collate "C") = lower(?::text collate "C")`;

async function claimAccount(transaction: EntityManager, person: SignInProfile): Promise<SignInOutcome | undefined> {
  if (person.email === undefined || person.provider === unverifiedProvider) return undefined;
  // Ignores case only for ASCII letters: Unicode case folding also maps the Kelvin sign to `k`, for example, which is a different mailbox.
  const [account] = await transaction.execute<(Row<typeof Account, 'id'> & BlockedColumn)[]>(
    `select id, blocked_at is not null and paused_at is null as is_blocked from account
     where lower(email collate "C") = lower(?::text collate "C")
     order by lower(email) = lower(?) desc, created_at limit 1 for update`,
    [person.email, person.email],
  );
  if (account === undefined) return undefined;
  // Queried after the account is locked, so that an identity linked by a concurrent sign-in is visible.
  const identities = await transaction.execute<unknown[]>('select from identity where account_id = ? limit 1', [
    account.id,
  ]);
  if (identities.length > 0) return { refused: 'email_taken' };
  if (account.is_blocked) return { refused: 'blocked' };
  await insertIdentity(transaction, account.id, person);
  return { accountId: account.id, isNew: false };
}

/**
 * Fills in a missing email address from the identity, unless another account has that address. Never sets an operator's address, because
 * operator rights follow addresses. May set an unverified address, since that takes nothing from another account.
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
       and not exists (${selectAddressConflicts})`,
    [email, accountId, email, email],
  );
}

/** Applies only if the account's address came from this identity. The old address is notified. */
async function updateChangedEmail(
  host: Pick<Host, 'section'>,
  transaction: EntityManager,
  accountId: string,
  { provider, subject, email }: SignInProfile,
): Promise<void> {
  if (email === undefined || provider === unverifiedProvider || isOperatorAddress(host, email)) return;
  const changedRows = await transaction.execute<unknown[]>(
    `update account a set former_email = a.email, email = ?
     from identity i where a.id = ? and i.account_id = a.id and i.provider = ? and i.subject = ?
       and lower(i.email) = lower(a.email) and lower(a.email) <> lower(?)
       and not exists (${selectAddressConflicts}) returning 1`,
    [email, accountId, provider, subject, email, email, email],
  );
  if (changedRows.length > 0) await recordEmailChange(transaction, accountId);
}

/** The event contains no addresses, because the account has both. */
export async function recordEmailChange(transaction: EntityManager, accountId: string): Promise<void> {
  await recordEvent(transaction, 'account.email_changed', { accountId }, `account.email_changed:${randomUUIDv7()}`);
}

async function signInWithIdentity(
  host: Pick<Host, 'section'>,
  transaction: EntityManager,
  { accountId, isBlocked }: IdentityOwner,
  person: SignInProfile,
): Promise<SignInOutcome> {
  if (isBlocked) return { refused: 'blocked' };
  const { provider, subject, email, name } = person;
  await updateChangedEmail(host, transaction, accountId, person);
  await transaction.execute(
    'update identity set email = ?, name = ?, last_used_at = clock_timestamp() where provider = ? and subject = ?',
    [email ?? null, name, provider, subject],
  );
  await adoptEmail(host, transaction, accountId, email);
  return { accountId, isNew: false };
}

const maxNameLength = 100; // characters
const maxEmailLength = 320;
const maxUrlLength = 2_000;

/** Removes control characters and line breaks and limits lengths, because providers pass on user input. */
export function cleanProfile(profile: SignInProfile): SignInProfile {
  const email = toOneLine(profile.email ?? '');
  const avatarUrl = profile.avatarUrl ?? '';
  return {
    provider: profile.provider,
    subject: profile.subject,
    email:
      /^[^@\s]+@[^@\s]+$/.test(email) && email.isWellFormed() && email.length <= maxEmailLength ? email : undefined,
    name: cleanName(profile.name) || cleanName(email.split('@')[0] ?? '') || profile.provider,
    avatarUrl:
      /^https:\/\/[^\s\p{Cc}\p{Cs}]+$/u.test(avatarUrl) && avatarUrl.length <= maxUrlLength ? avatarUrl : undefined,
  };
}

function cleanName(text: string): string {
  return toOneLine(text).slice(0, maxNameLength).toWellFormed();
}
