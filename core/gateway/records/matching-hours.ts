import type { Database } from '#core/platform/database/database.ts';
import { counterOf } from './count-requests.ts';
import type { RequestFilter } from './filter.ts';
import { countUsage, usageHour } from './usage.ts';

const maxHours = 60; // with more, most hours have a match

/**
 * Finds the hours whose requests make up a page, for requests of all accounts that are rare and have no index over all accounts: those of a
 * model or route, and those from the cache. Hourly usage shows where they are.
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
  const { accountId, model, route, isCached, since = 0, until } = filter;
  const counter = counterOf(filter);
  if (accountId !== undefined || counter === undefined) return undefined;
  if (model === undefined && route === undefined && isCached !== true) return undefined;
  const end = before === undefined ? until : before + 1;
  const hours = await countUsage(database, { model, route, since, until: end }, ['hour']);
  const found: number[] = [];
  let count = 0;
  for (const { hour, [counter]: matching } of hours.toReversed()) {
    if (matching === 0) continue;
    found.push(hour);
    // The first and the last hour may match only in part.
    const isWhole = hour >= since && (end === undefined || hour + usageHour <= end);
    if (isWhole) count += matching;
    if (count >= size) break;
    if (found.length > maxHours) return undefined;
  }
  return found;
}
