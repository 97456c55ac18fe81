import type { Readable } from 'node:stream';
import type { Host } from '#core/gateway/host/host.ts';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { readRequestPages } from '#core/gateway/records/read-requests.ts';
import { streamFile } from '#core/web/pages/stream-file.ts';

/** Writes records as text. */
export interface RecordWriter {
  /** What comes first; '' for nothing. */
  readonly head: string;
  write(record: RequestRecord): string;
}

/**
 * The records that a filter matches, newest first. One page of them is in memory, and the next one is read when the client
 * has taken it. Ends with an error when the database fails or time is over: the client must not take the part for the whole.
 *
 * @throws the error of the database, when the first page cannot be read
 */
export async function exportStream(
  { database, log }: Pick<Host, 'database' | 'log'>,
  filter: RequestFilter,
  { head, write }: RecordWriter,
): Promise<Readable> {
  const pages = readRequestPages(database.records, filter);
  const { value: first = [] } = await pages.next();
  async function* writeAll() {
    yield head + first.map(write).join('');
    for await (const records of pages) yield records.map(write).join('');
  }
  return streamFile(log, 'an export of requests', writeAll());
}
