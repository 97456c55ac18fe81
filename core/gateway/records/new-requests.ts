import type { Queries } from '#core/platform/database/database.ts';
import type { RequestRecord } from './columns.ts';
import { buildConditions, type RequestFilter, formatTimestamp } from './filter.ts';
import { recordColumns } from './read-requests.ts';

const maxArrivalDelayMs = 3_600_000; // records that a journal delays for longer are not found
const pageSize = 500;

type Cursor = Pick<RequestRecord, 'id' | 'started_at'>;

/**
 * Finds records in the order of their arrival, not of their times, because a request is recorded when it ends. PostgreSQL numbers
 * transactions and reports the oldest running one. A record that was not visible before has that number or a higher one.
 */
export class NewRequests {
  readonly #database: Queries;
  readonly #filter: RequestFilter;
  readonly #now: () => number;
  #position: string | undefined; // oldest running transaction before the last query
  #seenIds = new Set<string>(); // read at this position or the previous one

  constructor(database: Queries, filter: RequestFilter, now: () => number) {
    this.#database = database;
    this.#filter = filter;
    this.#now = now;
  }

  /** Starts following. Later records are new. Call it before reading older records. */
  async begin(): Promise<void> {
    this.#position = await this.#readPosition();
    // Skips visible records, because a running transaction in any database of the server may be older than they are.
    await Array.fromAsync(this.read());
  }

  /** Excludes records that the caller has read with another query. */
  skip(ids: Iterable<string>): void {
    for (const id of ids) this.#seenIds.add(id);
  }

  /** Reads the records that arrived since the last call, in pages, each oldest first. A failed call can be repeated. */
  async *read(): AsyncGenerator<RequestRecord[]> {
    const nextPosition = await this.#readPosition();
    const readIds = new Set<string>();
    let lastRecord: Cursor | undefined;
    let page: RequestRecord[];
    do {
      page = await this.#readPage(lastRecord);
      lastRecord = page.at(-1);
      const newRecords = page.filter(({ id }) => !this.#seenIds.has(id));
      for (const { id } of page) readIds.add(id);
      for (const { id } of newRecords) this.#seenIds.add(id);
      if (newRecords.length > 0) yield newRecords;
    } while (page.length === pageSize);
    this.#position = nextPosition;
    this.#seenIds = readIds;
  }

  async #readPage(after: Cursor | undefined): Promise<RequestRecord[]> {
    const since = Math.max(this.#now() - maxArrivalDelayMs, this.#filter.since ?? 0);
    const { sql, parameters } = buildConditions({ ...this.#filter, since });
    const cursorCondition = after === undefined ? '' : 'AND (started_at, id) > (?, ?)';
    return this.#database.query<RequestRecord>(
      `SELECT ${recordColumns} FROM request_log WHERE ${sql} AND age(xmin) <= age(?::xid) ${cursorCondition}
       ORDER BY request_log.started_at, request_log.id LIMIT ${pageSize}`,
      [...parameters, this.#position, ...(after === undefined ? [] : [formatTimestamp(after.started_at), after.id])],
    );
  }

  async #readPosition(): Promise<string> {
    const [row] = await this.#database.query<{ position: string }>(
      'SELECT pg_snapshot_xmin(pg_current_snapshot())::xid::text AS position',
    );
    return row?.position ?? '';
  }
}
