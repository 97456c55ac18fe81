import type { Queries } from '#core/platform/database/database.ts';
import { findCounter, countRequests, type RequestCount } from './count-requests.ts';
import type { RequestFilter } from './filter.ts';
import { listRequests, type RequestPage } from './read-requests.ts';

/**
 * Reads a page of records and the number of matching records. A count that hourly usage does not contain is read after the page: a list
 * that ends on its first page needs no count, and a filter with few matches would read everything twice.
 */
export async function listAndCount(
  database: Queries,
  filter: RequestFilter,
  page: { readonly limit: number; readonly before: string | undefined },
): Promise<[RequestPage, RequestCount]> {
  if (findCounter(filter) !== undefined)
    return Promise.all([listRequests(database, filter, page), countRequests(database, filter)]);
  const requests = await listRequests(database, filter, page);
  if (page.before === undefined && requests.next === undefined)
    return [requests, { count: requests.records.length, isCapped: false }];
  return [requests, await countRequests(database, filter)];
}
