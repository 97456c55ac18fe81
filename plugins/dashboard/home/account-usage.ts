import { LRUCache } from 'lru-cache';
import type { Host } from '#core/gateway/host/host.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { listRequests } from '#core/gateway/records/read-requests.ts';
import {
  countUsage,
  readUsage,
  startOfHours,
  type TimedUsage,
  type UsageCounts,
  type UsageKeys,
} from '#core/gateway/records/usage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { type LiveBus, getLiveBus } from '#core/web/live/live-bus.ts';

const maxLatestRequests = 4;
const recentHours = 2; // read on every update; older hours change only if a crash or the database delayed a record
const earlierTtlMs = 60_000;
const maxCachedAccounts = 1_000;

export type Range = '24h' | '30d';

/** Only the last 24 hours have times to the first content. */
export type UsageRow = UsageCounts & Partial<TimedUsage> & Pick<UsageKeys, 'hour' | 'model'>;

export interface AccountUsage {
  readonly rows: readonly UsageRow[]; // for the range, but at least for the last 48 hours
  readonly latest: readonly RequestRecord[]; // newest first
}

export function countRangeHours(range: Range): number {
  return range === '24h' ? 24 : 30 * 24;
}

export const countHoursToRead = (range: Range) => Math.max(48, countRangeHours(range)); // figures are compared with the day before

/**
 * Tabs and languages share the cached usage. Recent hours are cached until new records of the account are announced or the hour changes,
 * earlier hours for a minute.
 */
class UsageCache implements Disposable {
  readonly #database: Database;
  readonly #bus: LiveBus;
  readonly #currentReadings = new LRUCache<string, Map<Range, Promise<AccountUsage>>>({ max: maxCachedAccounts });
  readonly #earlierReadings = new LRUCache<string, Promise<UsageRow[]>>({ max: maxCachedAccounts, ttl: earlierTtlMs });
  readonly #followedAccounts = new LRUCache<string, () => void>({
    max: maxCachedAccounts,
    ttl: earlierTtlMs,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (unfollow) => unfollow(),
  });
  readonly #unsubscribe: () => void;
  #hour = 0;

  constructor(host: Host) {
    this.#database = host.database;
    this.#bus = getLiveBus(host);
    this.#unsubscribe = this.#bus.listen(({ topic, accounts }) => {
      if (topic !== 'requests') return;
      if (accounts === undefined) this.#currentReadings.clear();
      else for (const id of accounts) this.#currentReadings.delete(id);
    });
  }

  read(accountId: string, range: Range, now: number): Promise<AccountUsage> {
    this.#startHour(startOfHours(now, 1));
    if (this.#followedAccounts.get(accountId) === undefined)
      this.#followedAccounts.set(accountId, this.#bus.follow(accountId));
    // Without notifications of this and other instances, cached readings could be stale. Reading again also shows whether the database is
    // down.
    if (!this.#database.notifications.isConnected || !this.#bus.receivesChanges(accountId))
      this.#currentReadings.delete(accountId);
    const readings = this.#currentReadings.get(accountId) ?? new Map<Range, Promise<AccountUsage>>();
    this.#currentReadings.set(accountId, readings);
    return readCached(readings, range, () => this.#readCurrent(accountId, range, now));
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
    this.#followedAccounts.clear();
  }

  #startHour(hour: number): void {
    if (hour === this.#hour) return;
    this.#hour = hour;
    this.#currentReadings.clear();
    this.#earlierReadings.clear();
  }

  async #readCurrent(accountId: string, range: Range, now: number): Promise<AccountUsage> {
    const since = startOfHours(now, recentHours);
    const [earlier, recent, { records }] = await Promise.all([
      readCached(this.#earlierReadings, `${accountId} ${range}`, () => this.#readEarlier(accountId, range, now, since)),
      readUsage(this.#database, { accountId, since }, ['hour', 'model']),
      listRequests(this.#database, { accountId }, { limit: maxLatestRequests }),
    ]);
    return { rows: [...earlier, ...recent], latest: records };
  }

  async #readEarlier(accountId: string, range: Range, now: number, until: number): Promise<UsageRow[]> {
    const day = startOfHours(now, 24);
    const earlierDays = { accountId, since: startOfHours(now, countHoursToRead(range)), until: day };
    const parts = await Promise.all([
      countUsage(this.#database, earlierDays, ['hour', 'model']),
      readUsage(this.#database, { accountId, since: day, until }, ['hour', 'model']),
    ]);
    return parts.flat();
  }
}

interface ReadingCache<Key, Reading> {
  get(key: Key): Promise<Reading> | undefined;
  set(key: Key, reading: Promise<Reading>): unknown;
  delete(key: Key): unknown;
}

function readCached<Key, Reading>(
  readings: ReadingCache<Key, Reading>,
  key: Key,
  read: () => Promise<Reading>,
): Promise<Reading> {
  const cachedReading = readings.get(key);
  if (cachedReading !== undefined) return cachedReading;
  const reading = read();
  readings.set(key, reading);
  // A failed reading is not cached.
  reading.catch(() => readings.delete(key));
  return reading;
}

/** @throws Error while the database does not respond */
export function readAccountUsage(host: Host, accountId: string, range: Range): Promise<AccountUsage> {
  return host.keep('dashboard.usage', () => new UsageCache(host)).read(accountId, range, host.now());
}
