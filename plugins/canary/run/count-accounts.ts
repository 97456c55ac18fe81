import type { Database } from '#core/platform/database/database.ts';
import type { Canary } from '../record/canaries.ts';
import type { ComparedAccount, Counts } from './counts.ts';
import { takesAccount } from './share.ts';

/** Minimum ms before a canary that give an account's baseline. */
const minPastMs = 3_600_000;
/** Ms after its start at which nearly every request is recorded. Later records count at the next look. */
const settleTime = 300_000;
/** Epoch ms later than any request. */
const never = 4_102_444_800_000;

const nothing: Counts = { requests: 0, failures: 0, refusals: 0, timed: 0, logSum: 0 };

interface CountRow extends Counts {
  readonly account: string;
  readonly isCanary: boolean;
}

type Queries = Pick<Database, 'query'>;

/**
 * Counts the recorded model calls of accounts since a canary began, if their end is known. Requests of canary accounts that an
 * instance served before it had started the canary count for neither side.
 *
 * Between looks, only the requests of the last minutes are read again, and older ones once. Each look reads all requests.
 */
export class AccountCounter {
  readonly #database: Queries;
  readonly #canary: Canary;
  #before: ReadonlyMap<string, Counts> | undefined;
  /** Counts from the start of the canary until `#settledUntil`, epoch ms. */
  #settled: readonly CountRow[] = [];
  #settledUntil: number;

  constructor(database: Queries, canary: Canary) {
    this.#database = database;
    this.#canary = canary;
    this.#settledUntil = canary.startedAt.getTime();
  }

  /** Counts all but requests that were recorded long after they began. @param now epoch ms */
  async countRecent(now: number): Promise<ComparedAccount[]> {
    const until = Math.max(this.#settledUntil, now - settleTime);
    if (until > this.#settledUntil) {
      this.#settled = sumRows([...this.#settled, ...(await this.#count(this.#settledUntil, until))]);
      this.#settledUntil = until;
    }
    return this.#compare(sumRows([...this.#settled, ...(await this.#count(until, never))]));
  }

  /** Counts all recorded requests. @param now epoch ms */
  async countAll(now: number): Promise<ComparedAccount[]> {
    this.#settled = [];
    this.#settledUntil = this.#canary.startedAt.getTime();
    return this.countRecent(now);
  }

  async #compare(rows: readonly CountRow[]): Promise<ComparedAccount[]> {
    const before = (this.#before ??= await countBefore(this.#database, this.#canary));
    return rows
      .filter(({ isCanary, account }) => isCanary || !takesAccount(this.#canary, account))
      .map((row) => ({ ...row, before: before.get(row.account) ?? nothing }));
  }

  #count(from: number, to: number): Promise<CountRow[]> {
    return count(this.#database, from, to, this.#canary.id);
  }
}

/** Counts requests before a canary began, over its planned duration and at least an hour. The result does not change while it runs. */
async function countBefore(
  database: Queries,
  { startedAt, until }: Pick<Canary, 'startedAt' | 'until'>,
): Promise<ReadonlyMap<string, Counts>> {
  const start = startedAt.getTime();
  const rows = await count(database, start - Math.max(minPastMs, until.getTime() - start), start, 0);
  return new Map(rows.map((row) => [row.account, row]));
}

/** @param from epoch ms, like `to` @param canary number of the canary whose requests are counted separately */
function count(database: Queries, from: number, to: number, canary: number): Promise<CountRow[]> {
  return database.query<CountRow>(
    `select account_id as account, canary is not distinct from ? as "isCanary", count(*)::float8 as requests,
       count(*) filter (where outcome = 'failed')::float8 as failures,
       count(*) filter (where outcome = 'refused')::float8 as refusals,
       count(first_content_ms)::float8 as timed, coalesce(sum(ln(greatest(first_content_ms, 1))), 0)::float8 as "logSum"
     from request_log
     where started_at >= to_timestamp(?::float8 / 1000) and started_at < to_timestamp(?::float8 / 1000)
       and is_metered and account_id is not null and outcome <> 'interrupted'
     group by 1, 2`,
    [canary, from, to],
  );
}

/** Sums rows by account and side. */
function sumRows(rows: readonly CountRow[]): CountRow[] {
  const sums = new Map<string, CountRow>();
  for (const row of rows) {
    const key = `${row.account} ${row.isCanary}`;
    const sum = sums.get(key);
    sums.set(key, sum === undefined ? row : { ...row, ...addCounts(sum, row) });
  }
  return [...sums.values()];
}

function addCounts(one: Counts, other: Counts): Counts {
  return {
    requests: one.requests + other.requests,
    failures: one.failures + other.failures,
    refusals: one.refusals + other.refusals,
    timed: one.timed + other.timed,
    logSum: one.logSum + other.logSum,
  };
}
