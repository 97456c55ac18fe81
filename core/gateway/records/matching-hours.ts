import type { Queries } from '#core/platform/database/database.ts';
import { findOldestRecord } from './count-requests.ts';
import { isNotable, type RequestFilter } from './filter.ts';
import { countMatching, type MatchingHour, usageRetentionDays, hourMs } from './usage.ts';

const maxHours = 60; // if there are more, most hours have a match

/**
 * Finds the hours whose requests make up a page, from hourly usage over all accounts. A matching request is counted under its model and
 * route by all counters of the filter, so an hour without such a count has no match. If the filter consists of one counter, the counter is
 * also the number of matches. Usage by account is not used, because it is removed with the account.
 *
 * @param size number of requests on the page
 * @param before epoch ms; only requests up to this time are listed
 * @returns starts of hours, newest first, epoch ms; undefined if all hours must be read
 */
export async function findMatchingHours(
  database: Queries,
  filter: RequestFilter,
  size: number,
  before: number | undefined,
): Promise<number[] | undefined> {
  const { model, route, since = 0, until } = filter;
  const counters = listCounters(filter);
  if (canSkipUsage(filter, counters) || (await hasOlderThanUsage(database, since))) return undefined;
  const end = before === undefined ? until : before + 1;
  const hours = await countMatching(database, { model, route, since, until: end }, counters);
  return selectNewest(hours, hasSingleCounter(filter, counters) ? size : Infinity, since, end);
}

async function hasOlderThanUsage(database: Queries, since: number): Promise<boolean> {
  // Records may be kept for longer than usage.
  const usageStart = Date.now() - usageRetentionDays * 86_400_000;
  return since < usageStart && ((await findOldestRecord(database)) ?? usageStart) < usageStart;
}

function canSkipUsage({ accountId, model, route, outcome }: RequestFilter, counters: readonly string[]): boolean {
  const criteria = counters.length + (model === undefined ? 0 : 1) + (route === undefined ? 0 : 1);
  // Usage does not narrow the filter, or an index on the account covers it.
  return criteria === 0 || (accountId !== undefined && criteria === 1 && outcome !== 'interrupted');
}

function selectNewest(
  hours: readonly MatchingHour[],
  size: number,
  since: number,
  end: number | undefined,
): number[] | undefined {
  const selectedHours: number[] = [];
  let count = 0;
  for (const { hour, matching } of hours) {
    selectedHours.push(hour);
    // Only a part of the first and the last hour may match.
    const isComplete = hour >= since && (end === undefined || hour + hourMs <= end);
    if (isComplete) count += matching;
    if (count >= size) break;
    if (selectedHours.length > maxHours) return undefined;
  }
  return selectedHours;
}

function listCounters({ outcome, errors, hasFailover, isCached }: RequestFilter): string[] {
  // Each SQL sum includes every matching request.
  return [
    ...(outcome === undefined ? [] : [outcome]),
    ...(errors === true ? ['refused + failed + interrupted'] : []),
    ...(hasFailover === true ? ['failovers'] : []),
    ...(isCached === true ? ['cached'] : []),
  ];
}

function hasSingleCounter(filter: RequestFilter, counters: readonly string[]): boolean {
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
 * True if an index finds the newest matching requests. There is none for requests of all accounts by model or route, or from the cache,
 * unless they are notable.
 */
export function hasIndex(filter: RequestFilter): boolean {
  const { accountId, model, route, isCached } = filter;
  return (
    accountId !== undefined || isNotable(filter) || (model === undefined && route === undefined && isCached !== true)
  );
}
