import type { Queries } from '#core/platform/database/database.ts';
import type { Canary } from '../record/canaries.ts';
import type { ComparedAccount, Counts } from './counts.ts';
import { servesAccount } from './share.ts';

const minBaselineMs = 3_600_000;
const settleMs = 300_000; // nearly every request is recorded by then; a later record counts at the next look
const maxTime = 4_102_444_800_000; // later than any request, epoch ms

const zeroCounts: Counts = { requests: 0, failures: 0, refusals: 0, timed: 0, logSum: 0 };

interface CountRow extends Counts {
  readonly account: string;
  readonly isCanary: boolean;
}

/**
 * Counts the recorded model calls of accounts since a canary started, except calls whose end is unknown. If an instance served a canary
 * account before it had started the canary, the request counts for neither side.
 *
 * Each look reads all requests again. Between looks, only requests of the last few minutes are read.
 */
export class AccountCounter {
  readonly #database: Queries;
  readonly #canary: Canary;
  #baseline: ReadonlyMap<string, Counts> | undefined;
  #settled: readonly CountRow[] = []; // from the start of the canary to `#settledUntil`, epoch ms
  #settledUntil: number;

  constructor(database: Queries, canary: Canary) {
    this.#database = database;
    this.#canary = canary;
    this.#settledUntil = canary.startedAt.getTime();
  }

  /** Omits requests recorded more than `settleMs` after they started. */
  async countRecent(now: number): Promise<ComparedAccount[]> {
    const until = Math.max(this.#settledUntil, now - settleMs);
    if (until > this.#settledUntil) {
      this.#settled = sumRows([...this.#settled, ...(await this.#count(this.#settledUntil, until))]);
      this.#settledUntil = until;
    }
    return this.#compare(sumRows([...this.#settled, ...(await this.#count(until, maxTime))]));
  }

  async countAll(now: number): Promise<ComparedAccount[]> {
    this.#settled = [];
    this.#settledUntil = this.#canary.startedAt.getTime();
    return this.countRecent(now);
  }

  async #compare(rows: readonly CountRow[]): Promise<ComparedAccount[]> {
    const baseline = (this.#baseline ??= await countBaseline(this.#database, this.#canary));
    return rows
      .filter(({ isCanary, account }) => isCanary || !servesAccount(this.#canary, account))
      .map((row) => ({ ...row, before: baseline.get(row.account) ?? zeroCounts }));
  }

  #count(since: number, until: number): Promise<CountRow[]> {
    return queryCounts(this.#database, since, until, this.#canary.id);
  }
}

async function countBaseline(
  database: Queries,
  { startedAt, until }: Pick<Canary, 'startedAt' | 'until'>,
): Promise<ReadonlyMap<string, Counts>> {
  const start = startedAt.getTime();
  const rows = await queryCounts(database, start - Math.max(minBaselineMs, until.getTime() - start), start, 0);
  return new Map(rows.map((row) => [row.account, row]));
}

/** Counts requests of this canary separately. Times are epoch ms. */
function queryCounts(database: Queries, since: number, until: number, canary: number): Promise<CountRow[]> {
  return database.query<CountRow>(
    `select account_id as account, canary is not distinct from ? as "isCanary", count(*)::float8 as requests,
       count(*) filter (where outcome = 'failed')::float8 as failures,
       count(*) filter (where outcome = 'refused')::float8 as refusals,
       count(first_content_ms)::float8 as timed, coalesce(sum(ln(greatest(first_content_ms, 1))), 0)::float8 as "logSum"
     from request_log
     where started_at >= to_timestamp(?::float8 / 1000) and started_at < to_timestamp(?::float8 / 1000)
       and is_metered and account_id is not null and outcome <> 'interrupted'
     group by 1, 2`,
    [canary, since, until],
  );
}

function sumRows(rows: readonly CountRow[]): CountRow[] {
  const sums = new Map<string, CountRow>();
  for (const row of rows) {
    const key = `${row.account} ${row.isCanary}`;
    const sum = sums.get(key);
    sums.set(key, sum === undefined ? row : { ...row, ...addCounts(sum, row) });
  }
  return [...sums.values()];
}

function addCounts(a: Counts, b: Counts): Counts {
  return {
    requests: a.requests + b.requests,
    failures: a.failures + b.failures,
    refusals: a.refusals + b.refusals,
    timed: a.timed + b.timed,
    logSum: a.logSum + b.logSum,
  };
}
