import type { Host } from '#core/gateway/host/host.ts';
import { bounds } from '#core/platform/bounds.ts';
import { type Database, uuid } from '#core/platform/database/database.ts';
import { logFailure } from '#core/platform/errors/connection-error.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { Logger } from '#core/platform/logger.ts';
import { createGrowingCache } from '#core/platform/memory/growing-cache.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import type { Awaitable } from '#core/platform/timing/when-settled.ts';
import { type AccountField, type AccountRecord, readAccounts } from './account-record.ts';
import { TooManyLookups, BatchLoader } from './batch-loader.ts';

/** A cached account. A change notification evicts it; another lookup replaces it. */
export interface CachedAccount extends AccountRecord {
  readonly queriedAt: number; // when the query was sent: ms by the local clock
}

interface DirectoryOptions {
  readonly database: Pick<Database, 'query' | 'notifications'>;
  readonly log: Logger;
  readonly clock?: () => number; // monotonic ms
}

const defaultMaxAgeSeconds = 60;
const unwatchedMaxAgeMs = 1_000; // applies while the notification connection is down
const unknownMaxAgeMs = 10_000;
const maxStaleAgeMs = 24 * 60 * 60 * 1_000; // limit for serving a stale entry, whether the database is down or reports no change
const batchDelayMs = 250; // delays background lookups, to form batches, and callers that have sent unknown keys ("suspects")
const deadlineMs = 2_000;
const clockToleranceMs = deadlineMs; // in addition to the duration of the lookup, because the event loop may be busy
const probeIntervalMs = 1_000;

/**
 * Cache of accounts, by key and by id, for `auth`, `plan` and `GET /v1/key`.
 *
 * An entry is fresh if it is younger than the caller's maximum age, and 1. the database has not reported a change to the account since (a
 * report triggers a new read); 2. the notification connection has not been interrupted since (notifications may have been missed); 3. while
 * that connection is down, it is younger than a second (a rotated key must not work longer).
 *
 * Entries that are merely too old are served and refreshed in the background (stale-while-revalidate), so that the first call after a pause
 * is as fast as the next one. The maximum age only bounds how long a missed notification can go unnoticed.
 *
 * While the database does not respond, 2 and 3 do not apply. Cached accounts are then served for up to a day, regardless of the caller's
 * maximum age, so that paying callers do not notice a database restart. Unknown callers get `unavailable`. Once per second, a lookup tries
 * the database again.
 */
export class AccountDirectory implements AsyncDisposable {
  readonly #database: DirectoryOptions['database'];
  readonly #log: Logger;
  readonly #clock: () => number;
  readonly #accounts = createGrowingCache<CachedAccount>(bounds.cachedKeys);
  readonly #idOfDigest = createGrowingCache<string>(bounds.cachedKeys); // valid only while the account has that digest
  readonly #unknownUntil = createGrowingCache<number>(bounds.unknownKeys);
  readonly #byId: BatchLoader<CachedAccount>;
  readonly #byDigest: BatchLoader<CachedAccount>;
  readonly #bySuspectDigest: BatchLoader<CachedAccount>;
  readonly #refreshById: BatchLoader<CachedAccount>;
  readonly #listening: Promise<() => void>;
  #isListening = false;
  #notificationGapAt = -Infinity; // ms, by the local clock
  #notificationCount = 0; // if it changes during a query, the query may have read the previous state
  #outage: { readonly nextProbeAt: number } | undefined; // ms, by the local clock
  #clockOffset: number | undefined; // database time minus local time

  constructor({ database, log, clock = () => performance.now() }: DirectoryOptions) {
    this.#database = database;
    this.#log = log;
    this.#clock = clock;
    const readIds = (ids: readonly string[]) => this.#readBatch('id', ids, ({ id }) => id);
    const readDigests = (digests: readonly string[]) =>
      this.#readBatch('digest', digests, ({ key }) => key?.digest ?? '');
    this.#byId = new BatchLoader(readIds);
    this.#byDigest = new BatchLoader(readDigests);
    this.#bySuspectDigest = new BatchLoader(readDigests, batchDelayMs);
    this.#refreshById = new BatchLoader(readIds, batchDelayMs);
    this.#listening = this.#listen();
    this.#listening.catch(() => {}); // `ready` reports it
  }

  /** Resolves once the directory listens for changes. */
  async ready(): Promise<void> {
    await this.#listening;
  }

  /**
   * Finds the account whose key has this digest. An unknown digest is not looked up again for ten seconds.
   *
   * @param maxAgeSeconds how long an entry is fresh. With 0, the account is read before each use, unless the database does not respond, or
   *   too many lookups are waiting and the database has reported no change
   * @param isSuspect returns true if the caller has sent unknown keys, so that its lookups are delayed. Called only on a cache miss
   * @throws GatewayError `unavailable` if the account is not cached and the database does not respond
   */
  findByDigest(
    digest: string,
    maxAgeSeconds: number = defaultMaxAgeSeconds,
    isSuspect: () => boolean = () => false,
  ): Awaitable<CachedAccount | undefined> {
    const id = this.#idOfDigest.get(digest);
    const cached = id === undefined ? undefined : this.#accounts.get(id);
    if (cached !== undefined && cached.key?.digest === digest)
      return this.#serveCached(cached, maxAgeSeconds, this.#byDigest, digest);
    if (this.#isUnknown(digest)) return undefined;
    return this.#lookUp(isSuspect() ? this.#bySuspectDigest : this.#byDigest, digest, undefined);
  }

  /** Returns true if the key with this digest is cached, even if the entry is outdated. Does not query the database. */
  hasCachedKey(digest: string): boolean {
    const id = this.#idOfDigest.get(digest);
    return id !== undefined && this.#accounts.get(id)?.key?.digest === digest;
  }

  /**
   * Like `findById`, but immediately returns an entry that is up to a day old and refreshes it in the background. During a notification
   * outage, it waits for the lookup.
   */
  findCachedById(id: string): Awaitable<CachedAccount | undefined> {
    const cached = this.#accounts.get(id);
    if (cached === undefined) return this.findById(id);
    return this.#serveCached(cached, defaultMaxAgeSeconds, this.#byId, id);
  }

  /**
   * Finds the account with this id. An unknown id is not looked up again for ten seconds.
   *
   * @param maxAgeSeconds maximum age of the entry. An older one is returned only if the database does not respond
   * @throws GatewayError `unavailable` if the account is not cached and the database does not respond
   */
  findById(id: string, maxAgeSeconds: number = defaultMaxAgeSeconds): Awaitable<CachedAccount | undefined> {
    const cached = this.#accounts.get(id);
    if (cached !== undefined && this.#isFresh(cached, maxAgeSeconds)) return cached;
    if (cached === undefined && this.#isUnknown(id)) return undefined;
    return this.#lookUp(this.#byId, id, cached);
  }

  /** Returns the database's time in epoch ms: the time at which the account was read, plus the time since. */
  databaseTime(account: CachedAccount): number {
    return account.readAt + this.#clock() - account.queriedAt;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stop = await this.#listening.catch(() => undefined);
    stop?.();
  }

  #serveCached(
    cached: CachedAccount,
    maxAgeSeconds: number,
    loader: BatchLoader<CachedAccount>,
    key: string,
  ): Awaitable<CachedAccount | undefined> {
    if (this.#isFresh(cached, maxAgeSeconds)) return cached;
    const canServeStale = maxAgeSeconds > 0 && this.#isWatched && this.#isFresh(cached, maxStaleAgeMs / 1_000);
    if (!canServeStale) return this.#lookUp(loader, key, cached);
    if (this.#outage === undefined || this.#claimProbe()) this.#refreshInBackground(cached.id);
    return cached;
  }

  #refreshInBackground(id: string): void {
    this.#refreshById.load(id).then(
      (account) => {
        if (account === undefined) this.#accounts.delete(id);
      },
      // `#readBatch` has already logged the error, and the next call tries again.
      () => undefined,
    );
  }

  get #isWatched(): boolean {
    return this.#isListening && this.#database.notifications.isConnected;
  }

  #isFresh({ queriedAt }: CachedAccount, maxAgeSeconds: number): boolean {
    const limit = this.#isWatched ? maxAgeSeconds * 1_000 : Math.min(maxAgeSeconds * 1_000, unwatchedMaxAgeMs);
    return queriedAt > this.#notificationGapAt && this.#clock() - queriedAt < limit;
  }

  #isUnchanged({ queriedAt }: CachedAccount): boolean {
    // Any change since would have been reported.
    return this.#isWatched && queriedAt > this.#notificationGapAt;
  }

  #isUnknown(digestOrId: string): boolean {
    const expiresAt = this.#unknownUntil.get(digestOrId);
    return expiresAt !== undefined && this.#clock() < expiresAt;
  }

  #lookUp(
    loader: BatchLoader<CachedAccount>,
    key: string,
    cached: CachedAccount | undefined,
  ): Awaitable<CachedAccount | undefined> {
    const isOutage = this.#outage !== undefined;
    if (isOutage && !this.#claimProbe()) return this.#getCachedOrThrow(cached);
    const notificationsBefore = this.#notificationCount;
    const lookup = loader.load(key).then(
      (account) => account ?? this.#handleMiss(key, cached, notificationsBefore),
      (error: unknown) => {
        // The database responds, but slowly. The cached entry may be outdated: its key may have been rotated or blocked.
        const mayBeOutdated = error instanceof TooManyLookups && cached !== undefined && !this.#isUnchanged(cached);
        return this.#getCachedOrThrow(mayBeOutdated ? undefined : cached, error);
      },
    );
    if (!isOutage || cached === undefined) return lookup;
    lookup.catch(() => {});
    return this.#getCachedOrThrow(cached);
  }

  #handleMiss(key: string, cached: CachedAccount | undefined, notificationsBefore: number): undefined {
    if (cached !== undefined) this.#accounts.delete(cached.id);
    // If notifications arrived in the meantime, the account may just have been created.
    else if (notificationsBefore === this.#notificationCount)
      this.#unknownUntil.set(key, this.#clock() + unknownMaxAgeMs);
  }

  #getCachedOrThrow(cached: CachedAccount | undefined, cause?: unknown): CachedAccount {
    if (cached !== undefined && this.#clock() - cached.queriedAt < maxStaleAgeMs) return cached;
    throw new GatewayError('unavailable', 'API keys cannot be verified at the moment. Try again in a few seconds.', {
      retryAfter: 2,
      cause,
    });
  }

  async #readBatch(
    field: AccountField,
    values: readonly string[],
    keyOf: (account: CachedAccount) => string,
  ): Promise<Map<string, CachedAccount>> {
    // This query would read nothing, so it would show nothing about the database.
    if (field === 'id' && !values.some((value) => uuid.test(value))) return new Map();
    const queriedAt = this.#clock();
    const notificationsBefore = this.#notificationCount;
    try {
      const records = await withDeadline(
        readAccounts(this.#database, field, values),
        deadlineMs,
        `the database did not answer within ${deadlineMs} ms`,
      );
      this.#endOutage();
      this.#clearCacheIfClockJumped(records[0]?.readAt, queriedAt);
      const accounts = records.map((record) => ({ ...record, queriedAt }));
      if (notificationsBefore === this.#notificationCount) for (const account of accounts) this.#store(account);
      return new Map(accounts.map((account) => [keyOf(account), account]));
    } catch (error) {
      this.#beginOutage(error);
      throw error;
    }
  }

  #clearCacheIfClockJumped(readAt: number | undefined, sentAt: number): void {
    if (readAt === undefined) return;
    const offset = readAt - sentAt;
    // The database read its clock at some moment between `sentAt` and now.
    const tolerance = this.#clock() - sentAt + clockToleranceMs;
    if (this.#clockOffset !== undefined && Math.abs(offset - this.#clockOffset) > tolerance) {
      // `databaseTime` would be wrong.
      this.#accounts.clear();
      this.#log.warn(
        `the database's clock jumped by ${((offset - this.#clockOffset) / 1_000).toFixed(0)} s; cached accounts are dropped`,
      );
    }
    this.#clockOffset = offset;
  }

  #store(account: CachedAccount): void {
    this.#accounts.set(account.id, account);
    if (account.key !== undefined) this.#idOfDigest.set(account.key.digest, account.id);
  }

  #claimProbe(): boolean {
    if (this.#outage === undefined || this.#clock() < this.#outage.nextProbeAt) return false;
    this.#scheduleProbe();
    return true;
  }

  #scheduleProbe(): void {
    this.#outage = { nextProbeAt: this.#clock() + probeIntervalMs };
  }

  #beginOutage(error: unknown): void {
    if (this.#outage === undefined) {
      logFailure(this.#log, 'accounts cannot be read; only callers with a cached account are served', error);
    }
    this.#scheduleProbe();
  }

  #endOutage(): void {
    if (this.#outage === undefined) return;
    this.#outage = undefined;
    this.#log.info('accounts can be read again');
  }

  async #listen(): Promise<() => void> {
    const stop = await this.#database.notifications.listen(
      'account',
      (id) => {
        this.#notificationCount++;
        this.#accounts.delete(id);
        this.#unknownUntil.delete(id);
      },
      () => {
        this.#notificationCount++;
        this.#notificationGapAt = this.#clock();
      },
    );
    this.#isListening = true;
    return stop;
  }
}

/** The directory starts listening on first use; stages await `ready` in `create`. */
export function getAccountDirectory({ database, log, keep }: Host): AccountDirectory {
  const { notifications } = database;
  const query: Database['query'] = (sql, parameters) => database.queryFirst(sql, parameters);
  return keep('account-directory', () => new AccountDirectory({ database: { query, notifications }, log }));
}
