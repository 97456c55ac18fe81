import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import type { Database } from '../database/database.ts';
import { GatewayError } from '../errors/table.ts';
import type { Host } from '../host.ts';
import type { Logger } from '../logger.ts';
import { withDeadline } from '../timing/deadline.ts';
import { type AccountField, type AccountRecord, readAccounts } from './account-record.ts';
import { BatchLoader } from './batch-loader.ts';

type Awaitable<T> = T | Promise<T>;

/** An account as it was read. Dropped when a notification says that it has changed; replaced when it is read again. */
export interface KnownAccount extends AccountRecord {
  readonly seenAt: number; // ms, local clock, when the query was sent
}

export interface DirectoryOptions {
  readonly database: Pick<Database, 'query' | 'notifications'>;
  readonly log: Logger;
  /** Monotonic, ms. Tests set their own. */
  readonly clock?: () => number;
}

/** Seconds for which an answer counts, where the caller does not say. */
const defaultMaxAge = 60;
/** Ms for which an answer counts while no notification can come. */
const unwatchedMaxAge = 1_000;
/** Ms for which a key or id that nobody has is refused without another look. */
const unknownMaxAge = 10_000;
/** Ms for which accounts seen before go on working while the database does not answer. */
const outageMaxAge = 24 * 60 * 60 * 1_000;
/** Ms after which a look-up is given up. */
const deadline = 2_000;
/** Ms between two tries while the database does not answer. */
const probeInterval = 1_000;

/**
 * Accounts in memory, found by key or by id: what `auth`, `plan` and `GET /v1/key` know about callers.
 *
 * An answer may come from memory as long as it is younger than the caller wants, and
 * 1. no notification of the database has said that the account changed (then it is read again at once);
 * 2. the connection that carries notifications has not been away since (they may have been missed);
 * 3. while that connection is down, it is younger than a second (a rotated key must not live longer).
 *
 * When the database does not answer, 2 and 3 give way: accounts seen before are served for a day, since paying callers
 * should not notice a restart, and whoever has not been seen is told to come back. One look-up a second tries again.
 */
export class AccountDirectory implements AsyncDisposable {
  readonly #database: DirectoryOptions['database'];
  readonly #log: Logger;
  readonly #clock: () => number;
  readonly #accounts = new LRUCache<string, KnownAccount>({ max: bounds.knownKeys });
  /** Which account a key was seen with. Counts only while the account still has that digest. */
  readonly #idOfDigest = new LRUCache<string, string>({ max: bounds.knownKeys });
  /** Digests and ids that nobody has, and until when that is believed. */
  readonly #unknown = new LRUCache<string, number>({ max: bounds.unknownKeys });
  readonly #byId: BatchLoader<KnownAccount>;
  readonly #byDigest: BatchLoader<KnownAccount>;
  readonly #listening: Promise<() => void>;
  #isListening = false;
  #gapAt = -Infinity; // ms, local clock
  /** Raised by every notification: what was read across one may be older than the change. */
  #changes = 0;
  #nextProbe: number | undefined; // ms, local clock; set while the database does not answer

  constructor({ database, log, clock = () => performance.now() }: DirectoryOptions) {
    this.#database = database;
    this.#log = log;
    this.#clock = clock;
    this.#byId = new BatchLoader((ids) => this.#read('id', ids, ({ id }) => id));
    this.#byDigest = new BatchLoader((digests) => this.#read('digest', digests, ({ key }) => key?.digest ?? ''));
    this.#listening = this.#listen();
    this.#listening.catch(() => {}); // whoever awaits `ready` is told
  }

  /** Resolves when changes are being listened for. */
  async ready(): Promise<void> {
    await this.#listening;
  }

  /**
   * The account whose key has this digest; undefined when nobody's has.
   *
   * @param maxAge seconds for which an earlier answer counts
   * @throws GatewayError `unavailable` when nothing is known and the database does not answer
   */
  findByDigest(digest: string, maxAge: number = defaultMaxAge): Awaitable<KnownAccount | undefined> {
    const id = this.#idOfDigest.get(digest);
    const known = id === undefined ? undefined : this.#accounts.get(id);
    if (known !== undefined && known.key?.digest === digest) {
      return this.#isFresh(known, maxAge) ? known : this.#lookUp(this.#byDigest, digest, known);
    }
    if (this.#isUnknown(digest)) return undefined;
    return this.#lookUp(this.#byDigest, digest, undefined);
  }

  /** The account of this id. As `findByDigest`. */
  findById(id: string, maxAge: number = defaultMaxAge): Awaitable<KnownAccount | undefined> {
    const known = this.#accounts.get(id);
    if (known !== undefined && this.#isFresh(known, maxAge)) return known;
    if (known === undefined && this.#isUnknown(id)) return undefined;
    return this.#lookUp(this.#byId, id, known);
  }

  /** What the database's clock shows now, epoch ms: its time when the account was read, and what has passed since. */
  databaseTime(account: KnownAccount): number {
    return account.readAt + this.#clock() - account.seenAt;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stop = await this.#listening.catch(() => undefined);
    stop?.();
  }

  #isFresh({ seenAt }: KnownAccount, maxAge: number): boolean {
    const isWatched = this.#isListening && this.#database.notifications.isConnected;
    const limit = isWatched ? maxAge * 1_000 : Math.min(maxAge * 1_000, unwatchedMaxAge);
    return seenAt > this.#gapAt && this.#clock() - seenAt < limit;
  }

  #isUnknown(digestOrId: string): boolean {
    const until = this.#unknown.get(digestOrId);
    return until !== undefined && this.#clock() < until;
  }

  #lookUp(
    loader: BatchLoader<KnownAccount>,
    key: string,
    known: KnownAccount | undefined,
  ): Awaitable<KnownAccount | undefined> {
    const isOutage = this.#nextProbe !== undefined;
    if (isOutage && !this.#mayProbe()) return this.#fromMemory(known);
    const asked = loader.load(key).then(
      (found) => this.#settle(key, known, found),
      (error: unknown) => this.#fromMemory(known, error),
    );
    if (!isOutage || known === undefined) return asked;
    asked.catch(() => {});
    return this.#fromMemory(known);
  }

  /** Forgets what an account was known by when its key, or the account itself, is no longer there. */
  #settle(key: string, known: KnownAccount | undefined, found: KnownAccount | undefined): KnownAccount | undefined {
    if (found !== undefined) return found;
    if (known !== undefined) this.#accounts.delete(known.id);
    else this.#unknown.set(key, this.#clock() + unknownMaxAge);
    return undefined;
  }

  #fromMemory(known: KnownAccount | undefined, cause?: unknown): KnownAccount {
    if (known !== undefined && this.#clock() - known.seenAt < outageMaxAge) return known;
    throw new GatewayError('unavailable', 'accounts cannot be looked up at the moment; try again in a few seconds', {
      retryAfter: 2,
      cause,
    });
  }

  async #read(
    field: AccountField,
    values: readonly string[],
    valueOf: (account: KnownAccount) => string,
  ): Promise<Map<string, KnownAccount>> {
    const seenAt = this.#clock();
    const changes = this.#changes;
    try {
      const records = await withDeadline(
        readAccounts(this.#database, field, values),
        deadline,
        `the database did not answer within ${deadline} ms`,
      );
      this.#endOutage();
      const found = records.map((record) => ({ ...record, seenAt }));
      if (changes === this.#changes) for (const account of found) this.#keep(account);
      return new Map(found.map((account) => [valueOf(account), account]));
    } catch (error) {
      this.#beginOutage(error);
      throw error;
    }
  }

  #keep(account: KnownAccount): void {
    this.#accounts.set(account.id, account);
    if (account.key !== undefined) this.#idOfDigest.set(account.key.digest, account.id);
  }

  #mayProbe(): boolean {
    const now = this.#clock();
    if (this.#nextProbe !== undefined && now < this.#nextProbe) return false;
    this.#nextProbe = now + probeInterval;
    return true;
  }

  #beginOutage(error: unknown): void {
    if (this.#nextProbe === undefined) {
      this.#log.error('accounts cannot be read; callers seen before are served from memory, others are refused', error);
    }
    this.#nextProbe = this.#clock() + probeInterval;
  }

  #endOutage(): void {
    if (this.#nextProbe === undefined) return;
    this.#nextProbe = undefined;
    this.#log.info('accounts can be read again');
  }

  async #listen(): Promise<() => void> {
    const stop = await this.#database.notifications.listen(
      'account',
      (id) => {
        this.#changes++;
        this.#accounts.delete(id);
        this.#unknown.delete(id);
      },
      () => {
        this.#changes++;
        this.#gapAt = this.#clock();
      },
    );
    this.#isListening = true;
    return stop;
  }
}

/** The directory of this process. Its first use begins to listen; stages await `ready` when they are made. */
export function accountDirectory(host: Host): AccountDirectory {
  return host.keep('account-directory', () => new AccountDirectory(host));
}
