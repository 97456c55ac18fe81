import type { RequestRecord } from './columns.ts';

/** Which records are meant; members that are left out restrict nothing. */
export interface RequestFilter {
  readonly accountId?: string | undefined;
  /** The name that the client used. */
  readonly model?: string | undefined;
  /** The route that served, as `upstream/model`. */
  readonly route?: string | undefined;
  readonly outcome?: RequestRecord['outcome'] | undefined;
  /** The lowest and the highest status. */
  readonly status?: readonly [lowest: number, highest: number] | undefined;
  /** True for requests that more than one route was tried for. */
  readonly hasFailover?: boolean | undefined;
  /** True for replies from the cache. */
  readonly isCached?: boolean | undefined;
  /** True for requests that count against limits: model calls, not lists. */
  readonly isMetered?: boolean | undefined;
  readonly since?: number | undefined; // epoch ms
  readonly until?: number | undefined; // epoch ms, exclusive
}

/** The part of a statement after WHERE, with its parameters. */
export interface Conditions {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/**
 * Booleans become part of the text, and times parameters of the column's own type: only so the planner finds partial
 * indexes and leaves out partitions.
 */
export function conditionsOf(filter: RequestFilter): Conditions {
  const { accountId, model, route, outcome, status, hasFailover, isCached, isMetered, since, until } = filter;
  const conditions: [sql: string, ...parameters: unknown[]][] = [['true']];
  if (accountId !== undefined) conditions.push(['account_id = ?', accountId]);
  if (model !== undefined) conditions.push(['model = ?', model]);
  if (route !== undefined) conditions.push(['route = ?', route]);
  if (outcome !== undefined) conditions.push(['outcome = ?', outcome]);
  if (status !== undefined) conditions.push(['status BETWEEN ? AND ?', ...status]);
  if (hasFailover !== undefined) conditions.push([hasFailover ? 'has_failover' : 'has_failover IS NOT true']);
  if (isCached !== undefined) conditions.push([isCached ? "cache = 'hit'" : "cache IS DISTINCT FROM 'hit'"]);
  if (isMetered !== undefined) conditions.push([isMetered ? 'is_metered' : 'is_metered IS NOT true']);
  if (since !== undefined) conditions.push(['started_at >= ?', timestamp(since)]);
  if (until !== undefined) conditions.push(['started_at < ?', timestamp(until)]);
  return {
    sql: conditions.map(([sql]) => sql).join(' AND '),
    parameters: conditions.flatMap(([, ...parameters]) => parameters),
  };
}

/** A time as PostgreSQL reads it, whatever the time zone of the session. @param time epoch ms */
export function timestamp(time: number): string {
  return new Date(time).toISOString();
}
