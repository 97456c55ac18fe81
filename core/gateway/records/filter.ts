import { uuid } from '#core/platform/database/database.ts';
import type { RequestRecord } from './columns.ts';

/** Selects the records to read. Omitted members do not restrict the selection. */
export interface RequestFilter {
  readonly accountId?: string | undefined;
  /** Public name of a model. Requests that used an alias of the model also match. */
  readonly model?: string | undefined;
  /** Serving route, as `upstream/model`. */
  readonly route?: string | undefined;
  readonly outcome?: RequestRecord['outcome'] | undefined;
  /** True for requests that were refused, failed or were interrupted. */
  readonly errors?: true | undefined;
  readonly status?: readonly [lowest: number, highest: number] | undefined;
  /** True for requests that tried several routes. */
  readonly hasFailover?: boolean | undefined;
  /** True for requests served from the cache. */
  readonly isCached?: boolean | undefined;
  /** True for model calls. */
  readonly isMetered?: boolean | undefined;
  readonly since?: number | undefined; // epoch ms
  readonly until?: number | undefined; // epoch ms, exclusive
}

export interface Conditions {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

export type Condition = [sql: string, ...parameters: unknown[]];

export const outcomes = ['answered', 'refused', 'failed', 'aborted', 'interrupted'] as const; // each request has exactly one

/** Returns the filter for a status such as `429` or `5xx`, for an outcome, or for `error`, which means all refused and failed requests. */
export function filterByStatus(word: string): Pick<RequestFilter, 'status' | 'outcome' | 'errors'> {
  if (word === 'error') return { errors: true };
  const outcome = outcomes.find((name) => name === word);
  if (outcome !== undefined) return { outcome };
  return { status: [Number(word.replaceAll(/x/gi, '0')), Number(word.replaceAll(/x/gi, '9'))] };
}

const servedModelSql = 'coalesce(alias_of, model)';

/**
 * Builds the conditions for a filter. Booleans are part of the text, and times are parameters of the column's type, because the planner
 * needs both to use partial indexes and to skip partitions. Impossible values match nothing.
 */
export function buildConditions(filter: RequestFilter): Conditions {
  const { accountId, model, route, outcome, errors, status, hasFailover, isCached, isMetered, since, until } = filter;
  const conditions: Condition[] = [['true']];
  if (accountId !== undefined) conditions.push(uuid.test(accountId) ? ['account_id = ?', accountId] : ['false']);
  if (model !== undefined) conditions.push(buildTextCondition(servedModelSql, model));
  if (route !== undefined) conditions.push(buildTextCondition('route', route));
  if (outcome !== undefined) conditions.push(['outcome = ?', outcome]);
  if (errors === true) conditions.push(["outcome IN ('refused', 'failed', 'interrupted')"]);
  if (status !== undefined) conditions.push([buildStatusCondition(status), ...status]);
  if (hasFailover !== undefined) conditions.push([hasFailover ? 'has_failover' : 'has_failover IS NOT true']);
  if (isCached !== undefined) conditions.push([isCached ? "cache = 'hit'" : "cache IS DISTINCT FROM 'hit'"]);
  if (isMetered !== undefined) conditions.push([isMetered ? 'is_metered' : 'is_metered IS NOT true']);
  if (since !== undefined) conditions.push(['started_at >= ?', formatTimestamp(since)]);
  if (until !== undefined) conditions.push(['started_at < ?', formatTimestamp(until)]);
  if (accountId === undefined && isNotable(filter)) conditions.push([notableCondition]);
  return joinConditions(conditions);
}

/**
 * Condition of the index for rare requests of all accounts. A query must repeat it. Because of `coalesce`, the planner never uses this index
 * for the requests of one account, for which other indexes are better.
 */
export const notableCondition = `coalesce(status <> 200 OR outcome <> 'answered' OR has_failover, false)`;

/** True if all requests that match the filter meet `notableCondition`. */
export function isNotable({ outcome, errors, status, hasFailover }: RequestFilter): boolean {
  const isOtherStatus = status !== undefined && (status[0] > 200 || status[1] < 200);
  return errors === true || hasFailover === true || isOtherStatus || (outcome !== undefined && outcome !== 'answered');
}

export function joinConditions(conditions: readonly Condition[]): Conditions {
  return {
    sql: conditions.map(([sql]) => sql).join(' AND '),
    parameters: conditions.flatMap(([, ...parameters]) => parameters),
  };
}

function buildStatusCondition([lowest, highest]: readonly [number, number]): string {
  // Statuses other than 200 have a partial index, whose condition the query must repeat.
  const isOther = lowest > 200 || highest < 200;
  return `status BETWEEN ?::bigint AND ?::bigint${isOther ? ' AND status <> 200' : ''}`;
}

/** A text with NUL matches nothing, because PostgreSQL rejects NUL in text. */
export function buildTextCondition(column: string, text: string): Condition {
  return text.includes('\0') ? ['false'] : [`${column} = ?`, text];
}

/** Formats epoch ms for PostgreSQL, independent of the session's time zone. */
export function formatTimestamp(time: number): string {
  return new Date(time).toISOString();
}
