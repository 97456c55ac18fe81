import { uuid } from '#core/platform/database/database.ts';
import type { Database } from '#core/platform/database/database.ts';
import { type Condition, type Conditions, equalText, joinConditions, outcomes, timestamp } from './filter.ts';
import type { LatencyHistogram } from './latency-histogram.ts';
import { epoch } from '#core/platform/database/rows.ts';

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

/** Results of requests. */
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
  /** Vendors refused them, or withheld or cut their answers, because of a policy. */
  readonly policyRefusals: number;
  /** Input tokens that vendors' caches read and wrote. */
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Made by the Images API. */
  readonly images: number;
}

/** The same, with the time to the first content of the answers. */
export interface TimedUsage extends UsageCounts {
  readonly firstContent: LatencyHistogram;
}

/** Grouping of request counts. Requests without an account, model or route count under null. */
export interface UsageKeys {
  /** Start of the hour, epoch ms. Hours without requests are missing. */
  readonly hour: number;
  readonly account: string | null;
  readonly model: string | null;
  readonly route: string | null;
  /** Program that called, as it names itself; of calls of models by accounts. Not within one account. */
  readonly client: string | null;
}
export type UsageBy = keyof UsageKeys;

const expressions: Readonly<Record<UsageBy, string>> = {
  hour: epoch('hour'),
  account: 'account_id',
  model: 'model',
  route: 'route',
  client: 'client',
};

/** Columns of counts that came later: instances of earlier versions write rows without them. */
export const laterCounts = ['policy_refusals', 'cache_read_tokens', 'cache_write_tokens', 'images'] as const;

/** Columns that the tables of usage count in. */
export const storedCounts = [
  ...outcomes,
  'failovers',
  'cached',
  'input_tokens',
  'output_tokens',
  ...laterCounts,
] as const;

/** Columns of the counts over all accounts alone: tokens of streams that are long enough to tell a speed, and their ms. */
export const speedCounts = ['streamed_tokens', 'streamed_ms'] as const;

/** Names of clients in an hour, at most; the calls of others count as `other`. */
export const clientNames = 100;

/** Counts as PostgreSQL returns them. */
export type CountsRow = Readonly<Record<(typeof storedCounts)[number], number>>;
type Row = UsageKeys & CountsRow;

/** Shares of the input tokens that vendors' caches read and wrote, from 0 to 1; undefined without any input. */
export function sharesOfCache(
  counts: Pick<UsageCounts, 'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>,
): { readonly read: number; readonly written: number } | undefined {
  const { inputTokens, cacheReadTokens, cacheWriteTokens } = counts;
  if (inputTokens <= 0) return undefined;
  // Some vendors have counted more cached tokens than input.
  return { read: Math.min(1, cacheReadTokens / inputTokens), written: Math.min(1, cacheWriteTokens / inputTokens) };
}

/** The same as the operator's API and commands write them: null without any input. */
export function writeShares(counts: Parameters<typeof sharesOfCache>[0]) {
  const { read = null, written = null } = sharesOfCache(counts) ?? {};
  return { cachedInputShare: read, writtenInputShare: written };
}

/** The sums of all counts, for a statement that groups rows of usage. */
export const sumsOfCounts = storedCounts.map((name) => `coalesce(sum(${name}::float8), 0) AS ${name}`).join(', ');

/** The start of the hour, in UTC, in which a time lies. Epoch ms. */
export function startOfHour(time: number): number {
  return Math.floor(time / usageHour) * usageHour;
}

/** The start of the last `hours` hours, including the current one: for `since`. Epoch ms. */
export function startOfHours(now: number, hours: number): number {
  return startOfHour(now) - (hours - 1) * usageHour;
}

/**
 * Counts requests by group, in the order of the groups; with an empty `by`, all in one group. Exact for all requests that are
 * on record or have been in the last 400 days; records arrive about a second after their requests.
 */
export async function countUsage<const By extends UsageBy>(
  database: Queries,
  filter: UsageFilter,
  by: readonly By[],
): Promise<(UsageCounts & Pick<UsageKeys, By>)[]> {
  const { sql, parameters } = conditionsOf(filter);
  const rows = await database.query<Row>(`${countsStatement(tableFor(filter, by), sql, by)} ${inOrder(by)}`, [
    ...parameters,
    ...parameters,
  ]);
  return rows.map((row) => ({ ...keysOf(row, by), ...countsOf(row) }));
}

/** The same with times to the first content. Takes several times as long: use it for a few hours or groups. Clients have no times. */
export async function readUsage<const By extends Exclude<UsageBy, 'client'>>(
  database: Queries,
  filter: UsageFilter,
  by: readonly By[],
): Promise<(TimedUsage & Pick<UsageKeys, By>)[]> {
  const { sql, parameters } = conditionsOf(filter);
  const table = tableFor(filter, by);
  // One statement sees a delta or the hour that contains it, in both halves.
  const rows = await database.query<Row & { latency: LatencyHistogram | null; is_latency: boolean }>(
    `SELECT counted.*, NULL::json AS latency, false AS is_latency FROM (${countsStatement(table, sql, by)}) AS counted
     UNION ALL (${latencyStatement(table, sql, by)}) ${inOrder(by)}`,
    [...parameters, ...parameters, ...parameters, ...parameters],
  );
  const keyOf = (row: UsageKeys) => JSON.stringify(by.map((name) => row[name]));
  const latencies = new Map(rows.filter((row) => row.is_latency).map((row) => [keyOf(row), row.latency]));
  return rows
    .filter((row) => !row.is_latency)
    .map((row) => ({ ...keysOf(row, by), ...countsOf(row), firstContent: latencies.get(keyOf(row)) ?? [] }));
}

/**
 * Tokens per second of streams since an hour, by public name; models without any are missing.
 *
 * @param since epoch ms
 */
export async function readStreamingSpeed(database: Queries, since: number): Promise<ReadonlyMap<string, number>> {
  const { sql, parameters } = conditionsOf({ since });
  const columns = ['model', ...speedCounts].join(', ');
  const rows = await database.query<{ model: string; speed: number }>(
    `SELECT model, sum(streamed_tokens)::float8 * 1000 / sum(streamed_ms)::float8 AS speed FROM (
       SELECT ${columns} FROM usage_total WHERE ${sql} UNION ALL SELECT ${columns} FROM usage_delta WHERE ${sql}
     ) AS parts WHERE model IS NOT NULL GROUP BY model HAVING sum(streamed_ms) > 0`,
    [...parameters, ...parameters],
  );
  return new Map(rows.map(({ model, speed }) => [model, speed]));
}

/** Names of the requested models, in a third of the time that counting takes. */
export async function listUsedModels(database: Queries, filter: UsageFilter): Promise<string[]> {
  const { sql, parameters } = conditionsOf(filter);
  const rows = await database.query<{ readonly model: string }>(
    `SELECT model FROM ${tableFor(filter, ['model'])} WHERE ${sql} AND model IS NOT NULL
     UNION SELECT model FROM usage_delta WHERE ${sql} AND model IS NOT NULL ORDER BY 1`,
    [...parameters, ...parameters],
  );
  return rows.map(({ model }) => model);
}

/** The hours from which on usage is complete, epoch ms: `since` is undefined before the first request. */
export async function usageReach(database: Queries): Promise<{ since: number | undefined; until: number }> {
  const [reach] = await database.query<{ since: number | null; until: number }>(
    `SELECT ${epoch('least((SELECT min(hour) FROM usage_total), (SELECT min(hour) FROM usage_delta))')} AS since,
       ${epoch('now()')} AS until`,
  );
  return { since: reach?.since ?? undefined, until: reach?.until ?? 0 };
}

function tableFor({ accountId, model, route }: UsageFilter, by: readonly UsageBy[]): string {
  if (by.includes('client')) {
    if (accountId !== undefined || by.includes('account')) throw new Error('usage by client is over all accounts');
    return 'usage_client';
  }
  if (accountId === undefined && !by.includes('account')) return 'usage_total';
  const hasModel = model !== undefined || route !== undefined || by.includes('model') || by.includes('route');
  return hasModel ? 'usage_hour' : 'usage_account';
}

function deltasOf(table: string): string {
  return table === 'usage_client' ? 'usage_client_delta' : 'usage_delta';
}

function countsStatement(table: string, conditions: string, by: readonly UsageBy[]): string {
  const columns = [...keysFor(by), ...storedCounts].join(', ');
  return `
    SELECT ${[...by.map(quote), sumsOfCounts].join(', ')} FROM (
      SELECT ${columns} FROM ${table} WHERE ${conditions}
      UNION ALL SELECT ${columns} FROM ${deltasOf(table)} WHERE ${conditions}
    ) AS parts ${grouped(by.map(quote))}`;
}

/** The columns of the counts, which are null, and the histogram. */
function latencyStatement(table: string, conditions: string, by: readonly UsageBy[]): string {
  const keys = keysFor(by);
  const names = by.map(quote);
  return `
    SELECT ${[...names, ...storedCounts.map(() => 'NULL::float8')].join(', ')},
      json_agg(json_build_array(bucket, requests) ORDER BY bucket), true
    FROM (
      SELECT ${[...names, 'bucket', 'sum(requests) AS requests'].join(', ')} FROM (
        SELECT ${[...keys, 'bucket', 'requests'].join(', ')}
        FROM ${table}, unnest(first_content_buckets, first_content_counts) AS latency (bucket, requests)
        WHERE ${conditions}
        UNION ALL SELECT ${[...keys, 'first_content_bucket', outcomes.join(' + ')].join(', ')}
        FROM usage_delta WHERE ${conditions} AND first_content_bucket IS NOT NULL
      ) AS parts GROUP BY ${[...names, 'bucket'].join(', ')}
    ) AS bucketed ${grouped(names)}`;
}

function keysFor(by: readonly UsageBy[]): string[] {
  return by.map((name) => `${expressions[name]} AS ${quote(name)}`);
}

function quote(name: UsageBy): string {
  return `"${name}"`;
}

function grouped(names: readonly string[]): string {
  return names.length === 0 ? '' : `GROUP BY ${names.join(', ')}`;
}

function inOrder(by: readonly UsageBy[]): string {
  return by.length === 0 ? '' : `ORDER BY ${by.map((_, index) => index + 1).join(', ')}`;
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

export function countsOf(row: CountsRow): UsageCounts {
  const { answered, refused, aborted, failovers, cached } = row;
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
    policyRefusals: row.policy_refusals,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    images: row.images,
  };
}
