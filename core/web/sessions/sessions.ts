import { hash, randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '#core/business/accounts/account-events.ts';
import { AccountError } from '#core/business/accounts/account-error.ts';
import { BatchLoader } from '#core/business/accounts/batch-loader.ts';
import { type IdentityKey, readIdentityOwner } from '#core/business/accounts/identities.ts';
import { lockAccount } from '#core/business/accounts/ledger.ts';
import type { Database } from '#core/platform/database/database.ts';
import { bounds } from '#core/platform/bounds.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { createToken } from '../pages/cookies.ts';
import type { SignedInAccount } from '../pages/page.ts';
import type { Language } from '../texts/texts.ts';
import { withoutNul } from '../pages/without-nul.ts';
import { epochs, type Row, toRecord } from '#core/platform/database/rows.ts';
import type { Account, Session } from '#core/business/accounts/entities.ts';

const maxAgeDays = 90; // however active the session is
const maxIdleDays = 14;
const readTimeoutMs = 2_000;
/** Minimum time between updates of the last use, so that not every page view is a write. */
const lastUseStepSeconds = 60;

/** A new session. Only the browser has the token; the database stores its SHA-256. */
export interface IssuedSession {
  readonly id: string;
  readonly token: string;
  readonly expiresAt: Date;
}

/** A session as its owner sees it in a list. */
export interface SessionRecord {
  readonly id: string;
  /** User-Agent of the browser; '' if it sent none. */
  readonly userAgent: string;
  readonly createdAt: Date;
  /** Up to a minute behind. */
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
}

/** A valid session and its account. */
export interface OpenSession {
  readonly id: string;
  readonly account: SignedInAccount;
}

const live = `s.expires_at > now() and s.last_used_at > now() - interval '${maxIdleDays} days'`;

/** A paused account is not served, but its owner can read its pages. */
const mayRead = '(a.blocked_at is null or a.paused_at is not null)';

/**
 * Sessions of accounts, in PostgreSQL only: a revoked session is rejected at the next request,
 * on every instance.
 */
export class Sessions {
  readonly #database: Pick<Database, 'fork' | 'query'>;
  /** By token digest, so that hundreds of pages reconnecting at once take few queries. */
  readonly #byDigest: BatchLoader<OpenSession>;

  constructor(database: Pick<Database, 'fork' | 'query'>) {
    this.#database = database;
    this.#byDigest = new BatchLoader((digests) =>
      withDeadline(this.#readBatch(digests), readTimeoutMs, `no answer within ${readTimeoutMs} ms`),
    );
  }

  /**
   * Opens a session with a new token, so that a token planted before the sign-in gives no access.
   *
   * @param language of the reader, in which the account gets mails from now on
   * @param identity that the reader signed in with
   * @throws AccountError `not_found` if the account does not have that identity any more
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
        [id, accountId, digest(token), cleanUserAgent(userAgent), expiresAt.getTime()],
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
   * Finds the session of a token and updates its last use. Undefined if it has ended or never existed, or if its account is blocked.
   * Never older than the call.
   *
   * @throws DeadlineExceeded, BatchFull, or the query's error
   */
  read(token: string): Promise<OpenSession | undefined> {
    return this.#byDigest.load(digest(token).toString('hex'));
  }

  /** Skips rows that another instance is updating, because two instances waiting for each other would deadlock. */
  async #readBatch(digests: readonly string[]): Promise<Map<string, OpenSession>> {
    const rows = await this.#database.query<SessionRow>(
      `with found as (
         select encode(s.token_sha256, 'hex') as digest, s.id, s.account_id, a.name, a.email, a.avatar_url, s.last_used_at
         from session s join account a on a.id = s.account_id
         where s.token_sha256 = any(?::bytea[]) and ${live} and ${mayRead} and a.deleted_at is null
       ), used as (
         update session set last_used_at = now() where id in (
           select id from session
           where id in (select id from found where last_used_at < now() - interval '${lastUseStepSeconds} seconds')
           for update skip locked)
       )
       select * from found`,
      [`{${digests.map((hex) => `"\\\\x${hex}"`).join(',')}}`],
    );
    return new Map(rows.map((row) => [row.digest, toOpenSession(row)]));
  }

  /** True while the session is open and its account is served. Both ids are UUIDs. */
  async isOpen(accountId: string, sessionId: string): Promise<boolean> {
    const rows = await this.#database.query(
      `select 1 from session s join account a on a.id = s.account_id
       where s.id = ? and s.account_id = ? and ${live} and a.blocked_at is null and a.deleted_at is null`,
      [sessionId, accountId],
    );
    return rows.length > 0;
  }

  /** Selects the sessions that are still open, with their accounts. */
  async readOpen(ids: readonly string[]): Promise<Map<string, { readonly email: string | undefined }>> {
    const rows = await this.#database.query<Pick<SessionRow, 'id' | 'email'>>(
      `select s.id, a.email from session s join account a on a.id = s.account_id
       where s.id = any(?::uuid[]) and ${live} and ${mayRead} and a.deleted_at is null`,
      [`{${ids.join(',')}}`],
    );
    return new Map(rows.map(({ id, email }) => [id, { email: email ?? undefined }]));
  }

  /** The sessions of an account, most recently used first. */
  async list(accountId: string): Promise<SessionRecord[]> {
    const rows = await this.#database.query<SessionListRow>(
      `select s.id, s.user_agent, ${epochs('s.created_at', 's.last_used_at', 's.expires_at')}
       from session s where s.account_id = ? and ${live} order by s.last_used_at desc`,
      [accountId],
    );
    return rows.map(toRecord);
  }

  /**
   * Ends a session of this account.
   *
   * @returns false if the account has no session with this id
   */
  async revoke(accountId: string, sessionId: string): Promise<boolean> {
    const rows = await this.#database.query('delete from session where account_id = ? and id::text = ? returning id', [
      accountId,
      sessionId,
    ]);
    return rows.length > 0;
  }

  /** Ends the session of a token, of any account. */
  async revokeToken(token: string): Promise<void> {
    await this.#database.query('delete from session where token_sha256 = ?', [digest(token)]);
  }

  /**
   * Ends all sessions of an account.
   *
   * @param except id of the session to keep
   * @returns how many ended
   */
  async revokeAll(accountId: string, except?: string): Promise<number> {
    const rows = await this.#database.query('delete from session where account_id = ? and id::text <> ? returning id', [
      accountId,
      except ?? '',
    ]);
    return rows.length;
  }

  /**
   * Removes sessions that have expired or been idle too long.
   *
   * @returns how many
   */
  async removeEnded(): Promise<number> {
    const rows = await this.#database.query(`delete from session s where not (${live}) returning id`);
    return rows.length;
  }
}

function toOpenSession({ id, account_id, name, email, avatar_url }: SessionRow): OpenSession {
  return { id, account: { id: account_id, name, email: email ?? undefined, avatarUrl: avatar_url ?? undefined } };
}

type SessionRow = Row<typeof Session, 'id' | 'account_id'> &
  Row<typeof Account, 'name' | 'email' | 'avatar_url'> & { readonly digest: string };

type SessionListRow = Row<typeof Session, 'id' | 'user_agent' | 'created_at' | 'last_used_at' | 'expires_at'>;

/** Takes the lock of a removal, which is thus either seen here or ends the new session afterwards. */
async function requireIdentity(transaction: EntityManager, accountId: string, identity: IdentityKey): Promise<void> {
  await lockAccount(transaction, accountId);
  if ((await readIdentityOwner(transaction, identity))?.accountId !== accountId)
    throw new AccountError('not_found', 'The account does not have this sign-in any more.');
}

function digest(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

function cleanUserAgent(text: string | undefined): string {
  return withoutNul(text ?? '').slice(0, bounds.userAgent);
}
