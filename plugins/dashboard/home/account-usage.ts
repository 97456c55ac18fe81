import { LRUCache } from 'lru-cache';
import type { Database } from '#core/platform/database/database.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type LiveBus, liveBus } from '#core/web/live/live-bus.ts';
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

/** Requests in the table of the home page. */
const latestRequests = 4;
/** Hours that are read with every update. Only records that a crash or the database has delayed are older. */
const recentHours = 2;
const earlierKeptFor = 60_000; // ms after which earlier hours are read again
/** Accounts whose readings are kept. */
const keptAccounts = 1_000;

/** Time range of the chart. */
export type Range = '24h' | '30d';

/** Counts of one hour and model. Times to the first content exist for the last 24 hours. */
export type UsageRow = UsageCounts & Partial<TimedUsage> & Pick<UsageKeys, 'hour' | 'model'>;

/** Usage of an account. */
export interface AccountUsage {
  /** At least those of the last 48 hours, or of the range when that is longer. */
  readonly rows: readonly UsageRow[];
  /** Newest first. */
  readonly latest: readonly RequestRecord[];
}

/** Hours of a range, the running one included. */
export function hoursOf(range: Range): number {
  return range === '24h' ? 24 : 30 * 24;
}

/** Hours that are read for a range: figures are compared with the day before. */
const readHours = (range: Range) => Math.max(48, hoursOf(range));

/**
 * Readings of accounts, shared by tabs and languages. The recent hours are kept until new records of the account are
 * announced or the hour changes, those before for a minute.
 */
class UsageReadings implements Disposable {
  readonly #database: Database;
  readonly #bus: LiveBus;
  readonly #current = new LRUCache<string, Map<Range, Promise<AccountUsage>>>({ max: keptAccounts });
  readonly #earlier = new LRUCache<string, Promise<UsageRow[]>>({ max: keptAccounts, ttl: earlierKeptFor });
  /** Accounts whose news on other instances are heard of: those of the last minute. */
  readonly #followed = new LRUCache<string, () => void>({
    max: keptAccounts,
    ttl: earlierKeptFor,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (unfollow) => unfollow(),
  });
  readonly #stop: () => void;
  /** The hour of the cached readings. */
  #hour = 0;

  constructor(host: Host) {
    this.#database = host.database;
    this.#bus = liveBus(host);
    this.#stop = this.#bus.listen(({ topic, accounts }) => {
      if (topic !== 'requests') return;
      if (accounts === undefined) this.#current.clear();
      else for (const id of accounts) this.#current.delete(id);
    });
  }

  read(accountId: string, range: Range, now: number): Promise<AccountUsage> {
    this.#forgetHour(startOfHours(now, 1));
    if (this.#followed.get(accountId) === undefined) this.#followed.set(accountId, this.#bus.follow(accountId));
    // Without notifications, or without what other instances announce, readings could be old unnoticed; asking tells whether
    // the database is away.
    if (!this.#database.notifications.isConnected || !this.#bus.hears(accountId)) this.#current.delete(accountId);
    const readings = this.#current.get(accountId) ?? new Map<Range, Promise<AccountUsage>>();
    this.#current.set(accountId, readings);
    return kept(readings, range, () => this.#readCurrent(accountId, range, now));
  }

  [Symbol.dispose](): void {
    this.#stop();
    this.#followed.clear();
  }

  #forgetHour(hour: number): void {
    if (hour === this.#hour) return;
    this.#hour = hour;
    this.#current.clear();
    this.#earlier.clear();
  }

  async #readCurrent(accountId: string, range: Range, now: number): Promise<AccountUsage> {
    const since = startOfHours(now, recentHours);
    const [earlier, recent, { records }] = await Promise.all([
      kept(this.#earlier, `${accountId} ${range}`, () => this.#readEarlier(accountId, range, now, since)),
      readUsage(this.#database, { accountId, since }, ['hour', 'model']),
      listRequests(this.#database, { accountId }, { limit: latestRequests }),
    ]);
    return { rows: [...earlier, ...recent], latest: records };
  }

  async #readEarlier(accountId: string, range: Range, now: number, until: number): Promise<UsageRow[]> {
    const day = startOfHours(now, 24);
    const before = { accountId, since: startOfHours(now, readHours(range)), until: day };
    const parts = await Promise.all([
      countUsage(this.#database, before, ['hour', 'model']),
      readUsage(this.#database, { accountId, since: day, until }, ['hour', 'model']),
    ]);
    return parts.flat();
  }
}

interface KeptReadings<Key, Reading> {
  get(key: Key): Promise<Reading> | undefined;
  set(key: Key, reading: Promise<Reading>): unknown;
  delete(key: Key): unknown;
}

/** The reading of this key; one that has failed is not kept. */
function kept<Key, Reading>(
  readings: KeptReadings<Key, Reading>,
  key: Key,
  read: () => Promise<Reading>,
): Promise<Reading> {
  const known = readings.get(key);
  if (known !== undefined) return known;
  const reading = read();
  readings.set(key, reading);
  reading.catch(() => readings.delete(key));
  return reading;
}

/** @throws Error while the database does not answer */
export function readAccountUsage(host: Host, accountId: string, range: Range): Promise<AccountUsage> {
  return host.keep('dashboard.usage', () => new UsageReadings(host)).read(accountId, range, host.now());
}
