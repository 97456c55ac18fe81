import { hash, randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { AccountError } from '#core/business/accounts/account-error.ts';
import { recordEvent } from '#core/business/accounts/account-events.ts';
import { BatchLoader } from '#core/business/accounts/batch-loader.ts';
import type { Account, Session } from '#core/business/accounts/entities.ts';
import { type IdentityKey, readIdentityOwner } from '#core/business/accounts/identities.ts';
import { lockAccount } from '#core/business/accounts/ledger.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { Queries, Transactions } from '#core/platform/database/database.ts';
import { epochs, type Row, type RowOf, toRecord } from '#core/platform/database/rows.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { createToken } from '../pages/cookies.ts';
import type { SignedInAccount } from '../pages/page.ts';
import { removeNul } from '../pages/remove-nul.ts';
import type { Language } from '../texts/texts.ts';

const maxAgeDays = 90; // even for a session that is in use
const maxIdleDays = 14;
const readTimeoutMs = 2_000;
const minUpdateSeconds = 60; // between updates of the last use, so that not every page view causes a write

/** A new session. Only the browser gets the token; the database stores its SHA-256. */
export interface IssuedSession {
  readonly id: string;
  readonly token: string;
  readonly expiresAt: Date;
}

/** A session as its owner sees it in the list. */
export interface SessionRecord {
  readonly id: string;
  /** The browser's User-Agent; '' if it sent none. */
  readonly userAgent: string;
  readonly createdAt: Date;
  /** May be up to a minute old. */
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
}

/** A valid session, and its account. */
export interface OpenSession {
  readonly id: string;
  readonly account: SignedInAccount;
}

const liveCondition = `s.expires_at > now() and s.last_used_at > now() - interval '${maxIdleDays} days'`;

const readableCondition = '(a.blocked_at is null or a.paused_at is not null)'; // includes paused accounts, which are otherwise not served

/** Sessions of accounts. They are not cached, so every instance rejects a revoked session at its next request. */
export class Sessions {
  readonly #database: Queries & Transactions;
  readonly #byDigest: BatchLoader<OpenSession>; // batched, so that hundreds of pages that reconnect at once need few queries

  constructor(database: Queries & Transactions) {
    this.#database = database;
    this.#byDigest = new BatchLoader((digests) =>
      withDeadline(this.#readBatch(digests), readTimeoutMs, `no answer within ${readTimeoutMs} ms`),
    );
  }

  /**
   * Opens a session with a new token, so that a token planted before the sign-in gives no access.
   *
   * @param language the reader's language; from now on, emails to the account use it
   * @param identity the identity that was used to sign in
   * @throws AccountError `not_found` if the account no longer has the identity
   */
  async create(
    accountId: string,
    userAgent: string | undefined,
    language?: Language,
    identity?: IdentityKey,
  ): Promise<IssuedSession> {
    const token = createToken('s');
    const id = randomUUIDv7();
    const expiresAt = new Date(Date.now() + maxAgeDays * 24 * 60 * 60 * 1000);
    return this.#database.fork().transactional(async (transaction) => {
      if (identity !== undefined) await requireIdentity(transaction, accountId, identity);
      await transaction.execute(
        `insert into session (id, account_id, token_sha256, user_agent, expires_at)
         values (?, ?, ?, ?, to_timestamp(?::float8 / 1000))`,
        [id, accountId, hashToken(token), cleanUserAgent(userAgent), expiresAt.getTime()],
      );
      if (language !== undefined)
        await transaction.execute('update account set language = ? where id = ? and language is distinct from ?', [
          language,
          accountId,
          language,
        ]);
      await recordEvent(transaction, 'session.created', { accountId, sessionId: id }, `session.created:${id}`);
      return { id, token, expiresAt };
    });
  }

  /**
   * Finds the session for a token and updates its last use. The result is never older than the call.
   *
   * @returns undefined if the session has ended or never existed, or if its account is blocked
   * @throws DeadlineExceeded, TooManyLookups, or the query's error
   */
  read(token: string): Promise<OpenSession | undefined> {
    return this.#byDigest.load(hashToken(token).toString('hex'));
  }

  /** Updates skip rows that another instance is updating, because two instances could deadlock. */
  async #readBatch(digests: readonly string[]): Promise<Map<string, OpenSession>> {
    const rows = await this.#database.query<SessionRow>(
      `with found as (
         select encode(s.token_sha256, 'hex') as digest, s.id, s.account_id, a.name, a.email, a.avatar_url, s.last_used_at
         from session s join account a on a.id = s.account_id
         where s.token_sha256 = any(?::bytea[]) and ${liveCondition} and ${readableCondition} and a.deleted_at is null
       ), used as (
         update session set last_used_at = now() where id in (
           select id from session
           where id in (select id from found where last_used_at < now() - interval '${minUpdateSeconds} seconds')
           for update skip locked)
       )
       select * from found`,
      [`{${digests.map((hex) => `"\\\\x${hex}"`).join(',')}}`],
    );
    return new Map(rows.map((row) => [row.digest, toOpenSession(row)]));
  }

  /** Returns true if the session is open and its account is neither blocked nor paused. Both ids must be UUIDs. */
  async isOpen(accountId: string, sessionId: string): Promise<boolean> {
    const rows = await this.#database.query(
      `select 1 from session s join account a on a.id = s.account_id
       where s.id = ? and s.account_id = ? and ${liveCondition} and a.blocked_at is null and a.deleted_at is null`,
      [sessionId, accountId],
    );
    return rows.length > 0;
  }

  /** Returns the sessions that are still open, by id, with their accounts' email addresses. */
  async readOpen(ids: readonly string[]): Promise<Map<string, { readonly email: string | undefined }>> {
    const rows = await this.#database.query<Pick<SessionRow, 'id' | 'email'>>(
      `select s.id, a.email from session s join account a on a.id = s.account_id
       where s.id = any(?::uuid[]) and ${liveCondition} and ${readableCondition} and a.deleted_at is null`,
      [`{${ids.join(',')}}`],
    );
    return new Map(rows.map(({ id, email }) => [id, { email: email ?? undefined }]));
  }

  /** Lists the sessions of an account, most recently used first. */
  async list(accountId: string): Promise<SessionRecord[]> {
    const rows = await this.#database.query<RowOf<SessionRecord, typeof Session>>(
      `select s.id, s.user_agent, ${epochs('s.created_at', 's.last_used_at', 's.expires_at')}
       from session s where s.account_id = ? and ${liveCondition} order by s.last_used_at desc`,
      [accountId],
    );
    return rows.map(toRecord);
  }

  /** Ends one of an account's sessions. Returns false if the account has no session with this id. */
  async revoke(accountId: string, sessionId: string): Promise<boolean> {
    const rows = await this.#database.query('delete from session where account_id = ? and id::text = ? returning id', [
      accountId,
      sessionId,
    ]);
    return rows.length > 0;
  }

  /** Ends the session that a token belongs to, for any account. */
  async revokeToken(token: string): Promise<void> {
    await this.#database.query('delete from session where token_sha256 = ?', [hashToken(token)]);
  }

  /** Ends all of an account's sessions, except for `keptSessionId`. Returns the number of sessions ended. */
  async revokeAll(accountId: string, keptSessionId?: string): Promise<number> {
    const rows = await this.#database.query('delete from session where account_id = ? and id::text <> ? returning id', [
      accountId,
      keptSessionId ?? '',
    ]);
    return rows.length;
  }

  /** Removes sessions that have expired or have been idle for too long. Returns the number removed. */
  async removeEnded(): Promise<number> {
    const rows = await this.#database.query(`delete from session s where not (${liveCondition}) returning id`);
    return rows.length;
  }
}

function toOpenSession({ id, account_id, name, email, avatar_url }: SessionRow): OpenSession {
  return { id, account: { id: account_id, name, email: email ?? undefined, avatarUrl: avatar_url ?? undefined } };
}

type SessionRow = Row<typeof Session, 'id' | 'account_id'> &
  Row<typeof Account, 'name' | 'email' | 'avatar_url'> & { readonly digest: string };

/** Locking the account serializes this with removals, which end an identity's sessions. */
async function requireIdentity(transaction: EntityManager, accountId: string, identity: IdentityKey): Promise<void> {
  await lockAccount(transaction, accountId);
  if ((await readIdentityOwner(transaction, identity))?.accountId !== accountId)
    throw new AccountError('not_found', 'The account no longer has this sign-in.');
}

function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

function cleanUserAgent(text: string | undefined): string {
  return removeNul(text ?? '').slice(0, bounds.userAgent);
}
