import { uuid } from '../accounts/account-record.ts';
import type { Database } from '../database/database.ts';
import { type Condition, type Conditions, equalText, joinConditions, timestamp } from './filter.ts';
import type { LatencyHistogram } from './latency-histogram.ts';

type Queries = Pick<Database, 'query'>;

/** Ms. */
export const usageHour = 3_600_000;

/** Days for which usage is kept, longer than the records themselves. */
export const usageDays = 400;

/** Restricts which requests are counted. Members that are left out restrict nothing. */
export interface UsageFilter {
  readonly accountId?: string | undefined;
  /** Public name of a model; requests by its aliases count too. */
  readonly model?: string | undefined;
  /** The route that served, as `upstream/model`. */
  readonly route?: string | undefined;
  /** Epoch ms. Usage is by hour: all of the hour in which this time lies counts. */
  readonly since: number;
  /** Epoch ms; hours that begin at this time or later do not count. */
  readonly until?: number | undefined;
}

/** How requests ended. */
export interface UsageCounts {
  /** All of them, calls of models or not. */
  readonly requests: number;
  readonly answered: number;
  readonly refused: number;
  /** Failed, or interrupted by the end of the gateway's process. */
  readonly failed: number;
  /** Their clients left. */
  readonly aborted: number;
  /** Refused or failed. */
  readonly errors: number;
  /** More than one route was tried. */
  readonly failovers: number;
  /** Answered from the cache. */
  readonly cached: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Time to the first content of the answer. */
  readonly firstContent: LatencyHistogram;
}

/** What requests are counted by. Requests without an account, model or route are counted as those of null. */
export interface UsageKeys {
  /** Start of the hour, epoch ms. Hours without requests are missing. */
  readonly hour: number;
  readonly account: string | null;
  readonly model: string | null;
  readonly route: string | null;
}
export type UsageBy = keyof UsageKeys;

const expressions: Readonly<Record<UsageBy, string>> = {
  hour: '(extract(epoch FROM hour) * 1000)::float8',
  account: 'account_id',
  model: 'model',
  route: 'route',
};

/** Columns that the tables of usage count in. */
export const storedCounts = [
  'answered',
  'refused',
  'failed',
  'aborted',
  'interrupted',
  'failovers',
  'cached',
  'input_tokens',
  'output_tokens',
] as const;

type Row = UsageKeys &
  Readonly<Record<(typeof storedCounts)[number], number>> & { readonly latency: LatencyHistogram | null };

/** The start of the hour, in UTC, in which a time lies. Epoch ms. */
export function startOfHour(time: number): number {
  return Math.floor(time / usageHour) * usageHour;
}

/** The start of the first of the last hours, the running one included: for `since`. Epoch ms. */
export function startOfHours(now: number, hours: number): number {
  return startOfHour(now) - (hours - 1) * usageHour;
}

/**
 * Counts requests in groups, in the order of the groups; with an empty `by`, all of them in one. Exactly those on record, and
 * those of the last 400 days that were: records arrive about a second after their requests.
 */
export async function readUsage<const By extends UsageBy>(
  database: Queries,
  filter: UsageFilter,
  by: readonly By[],
): Promise<(UsageCounts & Pick<UsageKeys, By>)[]> {
  const { sql, parameters } = conditionsOf(filter);
  const isOverAll = filter.accountId === undefined && !by.some((name) => name === 'account');
  const hours = isOverAll ? 'usage_total' : 'usage_hour';
  const rows = await database.query<Row>(statement(hours, sql, by), [...parameters, ...parameters, ...parameters]);
  return rows.map((row) => ({ ...keysOf(row, by), ...countsOf(row) }));
}

/** The hours from which on usage is complete, epoch ms: `since` is undefined before the first request. */
export async function usageReach(database: Queries): Promise<{ since: number | undefined; until: number }> {
  const [reach] = await database.query<{ since: number | null; until: number }>(
    `SELECT (extract(epoch FROM least((SELECT min(hour) FROM usage_total), (SELECT min(hour) FROM usage_delta))) * 1000)::float8
       AS since, (extract(epoch FROM now()) * 1000)::float8 AS until`,
  );
  return { since: reach?.since ?? undefined, until: reach?.until ?? 0 };
}

/**
 * Hours and deltas, added up by key and bucket, then by key. What a row of hours counts is in a row without a bucket, and its
 * histogram in a row for each bucket.
 */
function statement(hours: string, conditions: string, by: readonly UsageBy[]): string {
  const keys = by.map((name) => `${expressions[name]} AS "${name}",`).join(' ');
  const names = by.map((name) => `"${name}",`).join(' ');
  const places = by.map((_, index) => index + 1).join(', ');
  const counts = storedCounts.join(', ');
  const sums = storedCounts.map((name) => `sum(${name}) AS ${name}`).join(', ');
  return `
    SELECT ${names} ${storedCounts.map((name) => `coalesce(sum(${name}), 0)::float8 AS ${name}`).join(', ')},
      json_agg(json_build_array(bucket, requests) ORDER BY bucket) FILTER (WHERE bucket IS NOT NULL) AS latency
    FROM (
      SELECT ${names} bucket, ${sums}, sum(requests) AS requests FROM (
        SELECT ${keys} ${counts}, NULL::smallint AS bucket, NULL::integer AS requests FROM ${hours} WHERE ${conditions}
        UNION ALL SELECT ${keys} ${storedCounts.map(() => 0).join(', ')}, bucket, requests
          FROM ${hours}, unnest(first_content_buckets, first_content_counts) AS latency (bucket, requests)
          WHERE ${conditions}
        UNION ALL SELECT ${keys} ${counts}, first_content_bucket, answered + refused + failed + aborted + interrupted
          FROM usage_delta WHERE ${conditions}
      ) AS counted GROUP BY ${names} bucket
    ) AS bucketed
    ${by.length === 0 ? '' : `GROUP BY ${places} ORDER BY ${places}`}`;
}

function conditionsOf({ accountId, model, route, since, until }: UsageFilter): Conditions {
  const conditions: Condition[] = [['hour >= ?', timestamp(startOfHour(since))]];
  if (until !== undefined) conditions.push(['hour < ?', timestamp(until)]);
  if (accountId !== undefined) conditions.push(uuid.test(accountId) ? ['account_id = ?', accountId] : ['false']);
  if (model !== undefined) conditions.push(equalText('model', model));
  if (route !== undefined) conditions.push(equalText('route', route));
  return joinConditions(conditions);
}

function keysOf<By extends UsageBy>(row: Row, by: readonly By[]): Pick<UsageKeys, By> {
  return Object.fromEntries(by.map((name) => [name, row[name]])) as Pick<UsageKeys, By> & object;
}

function countsOf(row: Row): UsageCounts {
  const { answered, refused, aborted, failovers, cached, latency } = row;
  const failed = row.failed + row.interrupted;
  return {
    requests: answered + refused + failed + aborted,
    answered,
    refused,
    failed,
    aborted,
    errors: refused + failed,
    failovers,
    cached,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    firstContent: latency ?? [],
  };
}
