import type { Database } from '#core/platform/database/database.ts';
import { counterOf, countRequests, type RequestCount } from './count-requests.ts';
import type { RequestFilter } from './filter.ts';
import { listRequests, type RequestPage } from './read-requests.ts';

/**
 * A page of records, and how many match. Counts that are not in hourly usage follow the page: a list that ends on its first page is its own
 * count, and a filter that finds little would read everything again.
 */
export async function listAndCount(
  database: Pick<Database, 'query'>,
  filter: RequestFilter,
  page: { readonly limit: number; readonly before: string | undefined },
): Promise<[RequestPage, RequestCount]> {
  if (counterOf(filter) !== undefined)
    return Promise.all([listRequests(database, filter, page), countRequests(database, filter)]);
  const found = await listRequests(database, filter, page);
  const isAll = page.before === undefined && found.next === undefined;
  return [found, isAll ? { count: found.records.length, isCapped: false } : await countRequests(database, filter)];
}
