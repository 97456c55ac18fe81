import { LRUCache } from 'lru-cache';
import type { Host } from '#core/host.ts';
import { liveBus } from '#core/pages/live/live-bus.ts';
import {
  countUsage,
  readUsage,
  startOfHours,
  type TimedUsage,
  type UsageCounts,
  type UsageKeys,
} from '#core/records/usage.ts';
import { listRequests } from '#core/records/read-requests.ts';
import type { RequestRecord } from '#core/records/columns.ts';

/** Requests in the table of the home page. */
const latestRequests = 4;
/** Accounts whose readings are kept. */
const keptAccounts = 1_000;
/** Ms after which they are read again, whatever was announced. */
const keptFor = 60_000;

/** What the chart covers. */
export type Range = '24h' | '30d';

export type HourCounts = UsageCounts & Pick<UsageKeys, 'hour'>;
export type TimedHour = TimedUsage & Pick<UsageKeys, 'hour'>;
export type ModelCounts = UsageCounts & Pick<UsageKeys, 'model'>;

/** What an account has sent. */
export interface AccountUsage {
  /** The last 48 hours, the oldest first; hours without requests are missing. */
  readonly hours: readonly TimedHour[];
  /** Of the range, the oldest hour first. */
  readonly charted: readonly HourCounts[];
  /** Of the range. */
  readonly models: readonly ModelCounts[];
  /** Newest first. */
  readonly latest: readonly RequestRecord[];
}

/** Readings of accounts, until new records of the account or a new hour. Tabs and languages share them. */
class UsageReadings implements Disposable {
  readonly #readings = new LRUCache<string, Map<Range, Promise<AccountUsage>>>({ max: keptAccounts, ttl: keptFor });
  readonly #stop: () => void;

  constructor(host: Host) {
    this.#stop = liveBus(host).listen(({ topic, accounts }) => {
      if (topic !== 'requests') return;
      if (accounts === undefined) this.#readings.clear();
      else for (const id of accounts) this.#readings.delete(id);
    });
  }

  read(accountId: string, range: Range, load: () => Promise<AccountUsage>): Promise<AccountUsage> {
    const readings = this.#readings.get(accountId) ?? new Map<Range, Promise<AccountUsage>>();
    const known = readings.get(range);
    if (known !== undefined) return known;
    const loading = load();
    readings.set(range, loading);
    this.#readings.set(accountId, readings);
    loading.catch(() => readings.delete(range));
    return loading;
  }

  [Symbol.dispose](): void {
    this.#stop();
  }
}

/** @throws Error while the database does not answer */
export async function readAccountUsage(host: Host, accountId: string, range: Range): Promise<AccountUsage> {
  const readings = host.keep('dashboard.usage', () => new UsageReadings(host));
  // Without it, readings could be old without anybody noticing; asking tells whether the database is away.
  if (!host.database.notifications.isConnected) return readAll(host, accountId, range);
  return readings.read(accountId, range, () => readAll(host, accountId, range));
}

async function readAll({ database, now }: Host, accountId: string, range: Range): Promise<AccountUsage> {
  const since = (hours: number) => ({ accountId, since: startOfHours(now(), hours) });
  const [hours, month, models, { records }] = await Promise.all([
    readUsage(database, since(48), ['hour']),
    range === '30d' ? countUsage(database, since(hoursOf(range)), ['hour']) : undefined,
    countUsage(database, since(hoursOf(range)), ['model']),
    listRequests(database, { accountId }, { limit: latestRequests }),
  ]);
  return { hours, charted: month ?? hours, models, latest: records };
}

/** Hours of a range, the running one included. */
export function hoursOf(range: Range): number {
  return range === '24h' ? 24 : 30 * 24;
}
