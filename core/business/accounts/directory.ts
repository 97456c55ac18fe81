import { logFailure } from '#core/platform/errors/connection-error.ts';
import { LRUCache } from 'lru-cache';
import { bounds } from '#core/platform/bounds.ts';
import type { Database } from '#core/platform/database/database.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Logger } from '#core/platform/logger.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { type AccountField, type AccountRecord, readAccounts } from './account-record.ts';
import { BatchLoader } from './batch-loader.ts';

type Awaitable<T> = T | Promise<T>;

/** A cached account. A change notification removes it; another lookup replaces it. */
export interface KnownAccount extends AccountRecord {
  readonly seenAt: number; // ms, local clock, when the query was sent
}

interface DirectoryOptions {
  readonly database: Pick<Database, 'query' | 'notifications'>;
  readonly log: Logger;
  readonly clock?: () => number; // monotonic ms
}

const defaultMaxAgeSeconds = 60;
const unwatchedMaxAgeMs = 1_000; // while notifications cannot arrive
/** An unknown key or id is rejected for this long without another lookup. */
const unknownMaxAgeMs = 10_000;
/** Cached accounts are used for this long while the database is down or reports no change. */
const longestAgeMs = 24 * 60 * 60 * 1_000;
/** Collects lookups of suspects and background lookups; also the longest delay of a valid key among suspects. */
const pauseMs = 250;
const deadlineMs = 2_000;
/** Tolerance between the database times of two lookups, in addition to their duration: the event loop may be busy. */
const clockToleranceMs = deadlineMs;
const probeIntervalMs = 1_000;

/**
 * Cache of accounts, by key and by id, for `auth`, `plan` and `GET /v1/key`.
 *
 * An entry is fresh while it is younger than the caller's maximum age, and
 * 1. the database has not reported a change of the account (which triggers a new read);
 * 2. the notification connection has not been interrupted since (notifications may have been missed);
 * 3. while that connection is down, the entry is younger than a second (a rotated key must not work longer).
 *
 * Calls do not wait for an entry that is only too old: they get it, and it is read again in the background, so that the first call after a
 * pause costs a customer no more than the next one. The age only bounds the effect of a change without a notification.
 *
 * While the database does not respond, 2 and 3 do not apply: cached accounts are used for a day, so that paying callers do
 * not notice a database restart, and unknown callers get `unavailable`. One lookup per second retries.
 */
export class AccountDirectory implements AsyncDisposable {
  readonly #database: DirectoryOptions['database'];
  readonly #log: Logger;
  readonly #clock: () => number;
  readonly #accounts = new LRUCache<string, KnownAccount>({ max: bounds.knownKeys });
  /** Account id by digest. Valid only while the account still has that digest. */
  readonly #idOfDigest = new LRUCache<string, string>({ max: bounds.knownKeys });
  readonly #unknown = new LRUCache<string, number>({ max: bounds.unknownKeys });
  readonly #byId: BatchLoader<KnownAccount>;
  readonly #byDigest: BatchLoader<KnownAccount>;
  readonly #bySuspectDigest: BatchLoader<KnownAccount>;
  readonly #refreshById: BatchLoader<KnownAccount>;
  readonly #listening: Promise<() => void>;
  #isListening = false;
  #gapAt = -Infinity; // ms, local clock
  /** A query during which this changed may have read the old state. */
  #notificationCount = 0;
  #nextProbe: number | undefined; // ms, local clock; set while the database does not answer
  #clockOffset: number | undefined; // the database's minus the local one

  constructor({ database, log, clock = () => performance.now() }: DirectoryOptions) {
    this.#database = database;
    this.#log = log;
    this.#clock = clock;
    this.#byId = new BatchLoader((ids) => this.#read('id', ids, ({ id }) => id));
    const readDigests = (digests: readonly string[]) => this.#read('digest', digests, ({ key }) => key?.digest ?? '');
    this.#byDigest = new BatchLoader(readDigests);
    this.#bySuspectDigest = new BatchLoader(readDigests, pauseMs);
    this.#refreshById = new BatchLoader((ids) => this.#read('id', ids, ({ id }) => id), pauseMs);
    this.#listening = this.#listen();
    this.#listening.catch(() => {}); // `ready` reports it
  }

  /** Resolves once the directory listens for changes. */
  async ready(): Promise<void> {
    await this.#listening;
  }

  /**
   * The account whose key has this digest, or undefined.
   *
   * @param maxAge seconds for which a cached entry is fresh; 0: every caller waits for the database
   * @param isSuspect whether the caller has sent unknown keys; its lookups are delayed and batched. Called only if nothing about the key is
   * in memory
   * @throws GatewayError `unavailable` if it is not cached and the database does not respond
   */
  findByDigest(
    digest: string,
    maxAge: number = defaultMaxAgeSeconds,
    isSuspect: () => boolean = () => false,
  ): Awaitable<KnownAccount | undefined> {
    const id = this.#idOfDigest.get(digest);
    const cached = id === undefined ? undefined : this.#accounts.get(id);
    if (cached !== undefined && cached.key?.digest === digest)
      return this.#useAndRefresh(cached, maxAge, this.#byDigest, digest);
    if (this.#isUnknown(digest)) return undefined;
    return this.#lookUp(isSuspect() ? this.#bySuspectDigest : this.#byDigest, digest, undefined);
  }

  /** True if the key with this digest is cached, possibly outdated. Does not query the database. */
  remembers(digest: string): boolean {
    const id = this.#idOfDigest.get(digest);
    return id !== undefined && this.#accounts.get(id)?.key?.digest === digest;
  }

  /** The account with this id. An entry that is only too old is returned and refreshed, as by `findByDigest`. */
  knownById(id: string): Awaitable<KnownAccount | undefined> {
    const cached = this.#accounts.get(id);
    if (cached === undefined) return this.findById(id);
    return this.#useAndRefresh(cached, defaultMaxAgeSeconds, this.#byId, id);
  }

  /**
   * The account with this id, no older than `maxAge` seconds.
   *
   * @throws GatewayError as `findByDigest`
   */
  findById(id: string, maxAge: number = defaultMaxAgeSeconds): Awaitable<KnownAccount | undefined> {
    const cached = this.#accounts.get(id);
    if (cached !== undefined && this.#isFresh(cached, maxAge)) return cached;
    if (cached === undefined && this.#isUnknown(id)) return undefined;
    return this.#lookUp(this.#byId, id, cached);
  }

  /** Database time in epoch ms: when the account was read, plus the time since. */
  databaseTime(account: KnownAccount): number {
    return account.readAt + this.#clock() - account.seenAt;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stop = await this.#listening.catch(() => undefined);
    stop?.();
  }

  #useAndRefresh(
    cached: KnownAccount,
    maxAge: number,
    loader: BatchLoader<KnownAccount>,
    key: string,
  ): Awaitable<KnownAccount | undefined> {
    if (this.#isFresh(cached, maxAge)) return cached;
    if (maxAge === 0 || !this.#isWatched || !this.#isFresh(cached, longestAgeMs / 1_000))
      return this.#lookUp(loader, key, cached);
    if (this.#nextProbe === undefined || this.#mayProbe()) this.#refresh(cached.id);
    return cached;
  }

  #refresh(id: string): void {
    this.#refreshById.load(id).then(
      (found) => found ?? this.#accounts.delete(id),
      // Logged where it is read; another call tries again.
      () => undefined,
    );
  }

  get #isWatched(): boolean {
    return this.#isListening && this.#database.notifications.isConnected;
  }

  #isFresh({ seenAt }: KnownAccount, maxAge: number): boolean {
    const limit = this.#isWatched ? maxAge * 1_000 : Math.min(maxAge * 1_000, unwatchedMaxAgeMs);
    return seenAt > this.#gapAt && this.#clock() - seenAt < limit;
  }

  #isUnknown(digestOrId: string): boolean {
    const until = this.#unknown.get(digestOrId);
    return until !== undefined && this.#clock() < until;
  }

  #lookUp(
    loader: BatchLoader<KnownAccount>,
    key: string,
    cached: KnownAccount | undefined,
  ): Awaitable<KnownAccount | undefined> {
    const isOutage = this.#nextProbe !== undefined;
    if (isOutage && !this.#mayProbe()) return this.#fromMemory(cached);
    const lookup = loader.load(key).then(
      (found) => this.#settle(key, cached, found),
      (error: unknown) => this.#fromMemory(cached, error),
    );
    if (!isOutage || cached === undefined) return lookup;
    lookup.catch(() => {});
    return this.#fromMemory(cached);
  }

  #settle(key: string, cached: KnownAccount | undefined, found: KnownAccount | undefined): KnownAccount | undefined {
    if (found !== undefined) return found;
    if (cached !== undefined) this.#accounts.delete(cached.id);
    else this.#unknown.set(key, this.#clock() + unknownMaxAgeMs);
    return undefined;
  }

  #fromMemory(cached: KnownAccount | undefined, cause?: unknown): KnownAccount {
    if (cached !== undefined && this.#clock() - cached.seenAt < longestAgeMs) return cached;
    throw new GatewayError('unavailable', 'API keys cannot be verified at the moment. Try again in a few seconds.', {
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
    const changes = this.#notificationCount;
    try {
      const records = await withDeadline(
        readAccounts(this.#database, field, values),
        deadlineMs,
        `the database did not answer within ${deadlineMs} ms`,
      );
      this.#endOutage();
      this.#compareClocks(records[0]?.readAt, seenAt);
      const found = records.map((record) => ({ ...record, seenAt }));
      if (changes === this.#notificationCount) for (const account of found) this.#keep(account);
      return new Map(found.map((account) => [valueOf(account), account]));
    } catch (error) {
      this.#beginOutage(error);
      throw error;
    }
  }

  /**
   * Drops accounts that were read before the database's clock was set: their `databaseTime` would be wrong.
   *
   * @param readAt epoch ms, some time between sending the query and now
   */
  #compareClocks(readAt: number | undefined, sentAt: number): void {
    if (readAt === undefined) return;
    const offset = readAt - sentAt;
    const tolerance = this.#clock() - sentAt + clockToleranceMs;
    if (this.#clockOffset !== undefined && Math.abs(offset - this.#clockOffset) > tolerance) {
      this.#accounts.clear();
      this.#log.warn(
        `the database's clock was set by ${((offset - this.#clockOffset) / 1_000).toFixed(0)} s; accounts are read again`,
      );
    }
    this.#clockOffset = offset;
  }

  #keep(account: KnownAccount): void {
    this.#accounts.set(account.id, account);
    if (account.key !== undefined) this.#idOfDigest.set(account.key.digest, account.id);
  }

  #mayProbe(): boolean {
    const now = this.#clock();
    if (this.#nextProbe !== undefined && now < this.#nextProbe) return false;
    this.#nextProbe = now + probeIntervalMs;
    return true;
  }

  #beginOutage(error: unknown): void {
    if (this.#nextProbe === undefined) {
      logFailure(this.#log, 'accounts cannot be read; only callers with a cached account are served', error);
    }
    this.#nextProbe = this.#clock() + probeIntervalMs;
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
        this.#notificationCount++;
        this.#accounts.delete(id);
        this.#unknown.delete(id);
      },
      () => {
        this.#notificationCount++;
        this.#gapAt = this.#clock();
      },
    );
    this.#isListening = true;
    return stop;
  }
}

/** The directory of this process. It starts to listen on first use; stages await `ready` in `create`. */
export function accountDirectory({ database, log, keep }: Host): AccountDirectory {
  const { notifications } = database;
  const query: Database['query'] = (sql, parameters) => database.queryFirst(sql, parameters);
  return keep('account-directory', () => new AccountDirectory({ database: { query, notifications }, log }));
}
