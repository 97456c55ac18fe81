import type { Readable } from 'node:stream';
import type { Host } from '#core/gateway/host/host.ts';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { listRequests, maxPage, type RequestPage } from '#core/gateway/records/read-requests.ts';
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
  writer: RecordWriter,
): Promise<Readable> {
  const first = await listRequests(database.records, filter, { limit: maxPage });
  const read = (before: string) => listRequests(database.records, filter, { limit: maxPage, before });
  return streamFile(log, 'an export of requests', writePages(first, read, writer));
}

async function* writePages(
  first: RequestPage,
  read: (before: string) => Promise<RequestPage>,
  { head, write }: RecordWriter,
): AsyncGenerator<Buffer> {
  if (head !== '') yield Buffer.from(head);
  for (let page: RequestPage | undefined = first; page !== undefined;) {
    if (page.records.length > 0) yield Buffer.from(page.records.map(write).join(''));
    page = page.next === undefined ? undefined : await read(page.next);
  }
}
