import type { Readable } from 'node:stream';
import type { Host } from '#core/gateway/host/host.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import { readRequestPages } from '#core/gateway/records/read-requests.ts';
import { streamFile } from '#core/web/pages/stream-file.ts';

export interface RecordRenderer {
  readonly head: string;
  render(record: RequestRecord): string;
}

/**
 * Streams the newest records first. Only one page is in memory; the next is read once the client has read it. Rejects if the first page
 * cannot be read. If the database fails later or time runs out, the stream ends with an error, so that the client notices it.
 */
export async function streamExport(
  { database, log }: Pick<Host, 'database' | 'log'>,
  filter: RequestFilter,
  { head, render: write }: RecordRenderer,
): Promise<Readable> {
  const pages = readRequestPages(database.records, filter);
  const { value: first = [] } = await pages.next();
  async function* renderAll() {
    yield head + first.map(write).join('');
    for await (const records of pages) yield records.map(write).join('');
  }
  return streamFile(log, 'an export of requests', renderAll());
}
