import type { Queries } from '#core/platform/database/database.ts';
import { epochs } from '#core/platform/database/rows.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { columns, type RequestRecord } from './columns.ts';
import { type Conditions, buildConditions, type RequestFilter, formatTimestamp } from './filter.ts';
import { findMatchingHours, hasIndex } from './matching-hours.ts';
import { parseRequestTime } from './request-id.ts';

/** A page of records. */
export interface RequestPage {
  /** Newest first. */
  readonly records: readonly RequestRecord[];
  /** The `before` of the next page; undefined on the last page. */
  readonly next: string | undefined;
}

const maxPageSize = 1_000;
const recentTimeMs = 86_400_000;
/** Smaller than other pages, because many exports may run concurrently. */
export const exportPageSize = 500;

/** Selects times as epoch ms, and 64-bit integers as numbers, which the driver would return as text. */
export const recordColumns = Object.entries(columns)
  .map(([name, { type }]) => {
    if (type === 'timestamptz') return epochs(name);
    return type === 'bigint' ? `${name}::float8 AS ${name}` : name;
  })
  .join(', ');

/** Without the table's name, `started_at` would be the selected number, which has no index. */
const orderNewestFirst = 'ORDER BY request_log.started_at DESC, request_log.id DESC';

/**
 * Finds the record of a request in the partition of its day; undefined if there is none yet. Records reach the database about a second after
 * the request ends.
 *
 * @param accountId finds the request only if it belongs to this account
 */
export async function findRequest(
  database: Queries,
  id: string,
  accountId?: string,
): Promise<RequestRecord | undefined> {
  const startedAt = parseRequestTime(id);
  if (startedAt === undefined) return undefined;
  const { sql, parameters } = buildConditions({ accountId });
  const [record] = await database.query<RequestRecord>(
    `SELECT ${recordColumns} FROM request_log WHERE started_at = ? AND id = ? AND ${sql}`,
    [formatTimestamp(startedAt), id, ...parameters],
  );
  return record;
}

/**
 * Lists a page of records, newest first. The next page starts after the id of the last record, so that new records do not shift the pages.
 *
 * @throws GatewayError `invalid_request` if `before` is not a request id
 */
export async function listRequests(
  database: Queries,
  filter: RequestFilter,
  { limit = 50, before }: { readonly limit?: number; readonly before?: string | undefined } = {},
): Promise<RequestPage> {
  const olderCondition = before === undefined ? undefined : buildOlderCondition(before);
  const size = Math.max(1, Math.min(limit, maxPageSize));
  const read = async (since: number | undefined): Promise<RequestRecord[]> => {
    const { sql, parameters } = buildConditions({ ...filter, since });
    return database.query<RequestRecord>(
      `SELECT ${recordColumns} FROM request_log WHERE ${sql} ${olderCondition?.sql ?? ''} ${orderNewestFirst} LIMIT ?`,
      [...parameters, ...(olderCondition?.parameters ?? []), size + 1],
    );
  };
  const { since = -Infinity } = filter;
  const beforeTime = before === undefined ? undefined : parseRequestTime(before);
  const recentSince = (beforeTime ?? filter.until ?? Date.now()) - recentTimeMs;
  // Most pages lie within a day, and planning a query over a month of partitions takes ten times as long as reading a page.
  const readRecent = async () => (recentSince > since ? read(recentSince) : []);
  const isIndexed = hasIndex(filter);
  let records = isIndexed ? await readRecent() : [];
  if (records.length > size) return toPage(records, size);
  const hours = await findMatchingHours(database, filter, size + 1, beforeTime);
  if (hours !== undefined) return toPage(await readHours(database, filter, olderCondition, size + 1, hours), size);
  if (!isIndexed) records = await readRecent();
  return toPage(records.length > size ? records : await read(filter.since), size);
}

function toPage(found: readonly RequestRecord[], size: number): RequestPage {
  const records = found.slice(0, size);
  return { records, next: found.length > size ? records.at(-1)?.id : undefined };
}

/** Reads each hour separately, to use the index on times. */
async function readHours(
  database: Queries,
  filter: RequestFilter,
  olderCondition: Conditions | undefined,
  size: number,
  hours: readonly number[],
): Promise<RequestRecord[]> {
  const oldestHour = hours.at(-1);
  if (oldestHour === undefined) return [];
  // The planner prunes partitions only by constants.
  const { sql, parameters } = buildConditions({ ...filter, since: Math.max(filter.since ?? 0, oldestHour) });
  return database.query<RequestRecord>(
    `SELECT ${recordColumns} FROM (
       SELECT of_hour.* FROM unnest(?::timestamptz[]) AS hours (hour), LATERAL (
         SELECT * FROM request_log
         WHERE started_at >= hours.hour AND started_at < hours.hour + interval '1 hour' AND ${sql} ${olderCondition?.sql ?? ''}
         ${orderNewestFirst} LIMIT ?
       ) AS of_hour
     ) AS request_log ${orderNewestFirst} LIMIT ?`,
    [
      `{${hours.map((hour) => `"${formatTimestamp(hour)}"`).join(',')}}`,
      ...parameters,
      ...(olderCondition?.parameters ?? []),
      size,
      size,
    ],
  );
}

/** Reads the pages of an export, newest first. */
export async function* readRequestPages(
  database: Queries,
  filter: RequestFilter,
): AsyncGenerator<readonly RequestRecord[], undefined> {
  let before: string | undefined;
  do {
    const page: RequestPage = await listRequests(database, filter, { limit: exportPageSize, before });
    yield page.records;
    before = page.next;
  } while (before !== undefined);
}

/** Reads all records for an export, newest first, one at a time. */
export async function* readRequests(database: Queries, filter: RequestFilter): AsyncGenerator<RequestRecord> {
  for await (const records of readRequestPages(database, filter)) yield* records;
}

function buildOlderCondition(id: string): Conditions {
  const time = parseRequestTime(id);
  if (time === undefined)
    throw new GatewayError('invalid_request', '`before` must be a request id, for example "req_019…"');
  const startedAt = formatTimestamp(time);
  // PostgreSQL prunes partitions by the first comparison, but not by the second.
  return { sql: 'AND started_at <= ? AND (started_at, id) < (?, ?)', parameters: [startedAt, startedAt, id] };
}

/** True if the prompt or the reply of a request is stored (`log: { content: true }`). Reads one partition. */
export async function hasStoredContent(database: Queries, id: string): Promise<boolean> {
  const startedAt = parseRequestTime(id);
  if (startedAt === undefined) return false;
  const rows = await database.query('SELECT 1 FROM request_content WHERE started_at = ? AND id = ? LIMIT 1', [
    formatTimestamp(startedAt),
    id,
  ]);
  return rows.length > 0;
}
