import type { Database } from '#core/platform/database/database.ts';
import type { RequestRecord } from './columns.ts';
import { conditionsOf, type RequestFilter, timestamp } from './filter.ts';
import { recordColumns } from './read-requests.ts';

/** A new record's request started within this time; records delayed longer by a journal are not found. */
const windowMs = 3_600_000;
const pageSize = 500;

type Cursor = Pick<RequestRecord, 'id' | 'started_at'>;

/**
 * Finds records in order of arrival, which differs from that of their times, because a request is recorded when it ends. PostgreSQL numbers
 * transactions and reports the oldest running one: a record that was not visible before has this number or a higher one.
 */
export class NewRequests {
  readonly #database: Pick<Database, 'query'>;
  readonly #filter: RequestFilter;
  readonly #now: () => number;
  /** Oldest running transaction before the last query. */
  #position: string | undefined;
  #known = new Set<string>(); // ids read at this position or the previous one

  constructor(database: Pick<Database, 'query'>, filter: RequestFilter, now: () => number) {
    this.#database = database;
    this.#filter = filter;
    this.#now = now;
  }

  /** Starts: later records are new. Call it before reading the older ones. */
  async begin(): Promise<void> {
    this.#position = await this.#readPosition();
    // A running transaction, in any database of the server, may be older than records already visible.
    await Array.fromAsync(this.read());
  }

  /** Marks records that the caller read by another query. */
  skip(ids: Iterable<string>): void {
    for (const id of ids) this.#known.add(id);
  }

  /** Records that arrived since the last call, in pages, each oldest first. A failed call can be repeated. */
  async *read(): AsyncGenerator<RequestRecord[]> {
    const next = await this.#readPosition();
    const found = new Set<string>();
    let last: Cursor | undefined;
    let page: RequestRecord[];
    do {
      page = await this.#readPage(last);
      last = page.at(-1);
      const fresh = page.filter(({ id }) => !this.#known.has(id));
      for (const { id } of page) found.add(id);
      for (const { id } of fresh) this.#known.add(id);
      if (fresh.length > 0) yield fresh;
    } while (page.length === pageSize);
    this.#position = next;
    this.#known = found;
  }

  async #readPage(after: Cursor | undefined): Promise<RequestRecord[]> {
    const since = Math.max(this.#now() - windowMs, this.#filter.since ?? 0);
    const { sql, parameters } = conditionsOf({ ...this.#filter, since });
    const behind = after === undefined ? '' : 'AND (started_at, id) > (?, ?)';
    return this.#database.query<RequestRecord>(
      `SELECT ${recordColumns} FROM request_log WHERE ${sql} AND age(xmin) <= age(?::xid) ${behind}
       ORDER BY request_log.started_at, request_log.id LIMIT ${pageSize}`,
      [...parameters, this.#position, ...(after === undefined ? [] : [timestamp(after.started_at), after.id])],
    );
  }

  async #readPosition(): Promise<string> {
    const [row] = await this.#database.query<{ position: string }>(
      'SELECT pg_snapshot_xmin(pg_current_snapshot())::xid::text AS position',
    );
    return row?.position ?? '';
  }
}
