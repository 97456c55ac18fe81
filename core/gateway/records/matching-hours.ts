import type { Database } from '#core/platform/database/database.ts';
import { oldestRecord } from './count-requests.ts';
import { isNotable, type RequestFilter } from './filter.ts';
import { countMatching, type MatchingHour, usageDays, usageHour } from './usage.ts';

const maxHours = 60; // with more, most hours have a match

/**
 * Finds the hours whose requests make up a page, from hourly usage over all accounts; that of deleted accounts is not kept apart. A request
 * that matches is counted under its model and route by all counters of the filter, so an hour without such a group has none. If one counter
 * is the whole filter, it also shows how many there are.
 *
 * @param before epoch ms; only requests until then are listed
 * @returns starts of hours, newest first, epoch ms; undefined if all hours must be read
 */
export async function findMatchingHours(
  database: Pick<Database, 'query'>,
  filter: RequestFilter,
  size: number,
  before: number | undefined,
): Promise<number[] | undefined> {
  const { model, route, since = 0, until } = filter;
  const counters = countersOf(filter);
  if (hasOwnIndex(filter, counters) || (await hasOlderThanUsage(database, since))) return undefined;
  const end = before === undefined ? until : before + 1;
  const hours = await countMatching(database, { model, route, since, until: end }, counters);
  return newestOf(hours, isExact(filter, counters) ? size : Infinity, since, end);
}

/** Records may be kept for longer than their usage. */
async function hasOlderThanUsage(database: Pick<Database, 'query'>, since: number): Promise<boolean> {
  const begin = Date.now() - usageDays * 86_400_000;
  return since < begin && ((await oldestRecord(database)) ?? begin) < begin;
}

/** Whether usage says nothing, or one index of an account has all that the filter names. */
function hasOwnIndex({ accountId, model, route, outcome }: RequestFilter, counters: readonly string[]): boolean {
  const named = counters.length + (model === undefined ? 0 : 1) + (route === undefined ? 0 : 1);
  return named === 0 || (accountId !== undefined && named === 1 && outcome !== 'interrupted');
}

/** The newest hours that have so many requests; undefined if there are too many. */
function newestOf(
  hours: readonly MatchingHour[],
  size: number,
  since: number,
  end: number | undefined,
): number[] | undefined {
  const found: number[] = [];
  let count = 0;
  for (const { hour, matching } of hours) {
    found.push(hour);
    // The first and the last hour may match only in part.
    const isWhole = hour >= since && (end === undefined || hour + usageHour <= end);
    if (isWhole) count += matching;
    if (count >= size) break;
    if (found.length > maxHours) return undefined;
  }
  return found;
}

/** SQL sums of stored counts that include every request that matches. */
function countersOf({ outcome, errors, hasFailover, isCached }: RequestFilter): string[] {
  return [
    ...(outcome === undefined ? [] : [outcome]),
    ...(errors === true ? ['refused + failed + interrupted'] : []),
    ...(hasFailover === true ? ['failovers'] : []),
    ...(isCached === true ? ['cached'] : []),
  ];
}

function isExact(filter: RequestFilter, counters: readonly string[]): boolean {
  const { accountId, status, isMetered, hasFailover, isCached } = filter;
  return (
    counters.length <= 1 &&
    accountId === undefined &&
    status === undefined &&
    isMetered === undefined &&
    hasFailover !== false &&
    isCached !== false
  );
}

/**
 * Whether an index leads to the newest requests that match. Requests of all accounts with a model or route, or from the cache, have none
 * unless they are notable.
 */
export function hasIndex(filter: RequestFilter): boolean {
  const { accountId, model, route, isCached } = filter;
  return (
    accountId !== undefined || isNotable(filter) || (model === undefined && route === undefined && isCached !== true)
  );
}
