import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import { findRequest, listRequests, maxPage } from '#core/gateway/records/read-requests.ts';
import { describeRequest } from './describe-request.ts';
import { describeRequests, requestToJson } from './describe-requests.ts';
import { readUnauthenticated } from '#core/gateway/records/unauthenticated.ts';
import { describeUnauthenticated, includesUnauthenticated, namedBlocks } from './describe-unauthenticated.ts';
import type { CommandOutput } from './selection.ts';
import type { Account } from '#core/business/accounts/entities.ts';
import type { Row } from '#core/platform/database/rows.ts';

/** Prints requests, the newest first. */
export async function printRequests(
  { database }: Pick<Host, 'database'>,
  filter: RequestFilter & { readonly since: number },
  { limit, after }: { readonly limit: number; readonly after: string | undefined },
  { print, timeZone }: Omit<CommandOutput, 'isJson'>,
): Promise<void> {
  const { records, next } = await listUpTo(database, filter, limit, after);
  if (records.length === 0) print('No request found.');
  else for (const line of describeRequests(records, timeZone)) print(line);
  if (next !== undefined) print(`\nmore: --before ${next}`);
  if (after !== undefined || !includesUnauthenticated(filter)) return;
  const unauthenticated = await readUnauthenticated(database, filter.since, namedBlocks);
  for (const line of describeUnauthenticated(unauthenticated, filter.since, timeZone)) print(line);
}

/** Pages until there are enough. */
export async function listUpTo(
  database: Host['database'],
  filter: RequestFilter,
  limit: number,
  before?: string,
): Promise<{ readonly records: readonly RequestRecord[]; readonly next: string | undefined }> {
  const records: RequestRecord[] = [];
  let next = before;
  do {
    const page = await listRequests(database, filter, {
      limit: Math.min(limit - records.length, maxPage),
      before: next,
    });
    records.push(...page.records);
    next = page.next;
  } while (next !== undefined && records.length < limit);
  return { records, next };
}

/** A request as `requests show` prints it. */
export interface FoundRequest {
  readonly json: object;
  describe(timeZone: string): string[];
}

/** @throws CheckoutError `not_found` */
export async function readRequest(database: Host['database'], id: string): Promise<FoundRequest> {
  const record = await findRequest(database, id);
  if (record === undefined)
    throw new CheckoutError(
      'not_found',
      `Request ${id} not found. Requests are recorded about a second after they are over, and kept for the days of log.keep_days.`,
    );
  const name = await nameOf(database, record.account_id);
  return { json: requestToJson(record), describe: (timeZone) => describeRequest(record, name, timeZone) };
}

async function nameOf(database: Host['database'], accountId: string | null): Promise<string | undefined> {
  const [row] = await database.query<Row<typeof Account, 'name' | 'email'>>(
    'SELECT name, email FROM account WHERE id = ?',
    [accountId],
  );
  return row && (row.email === null ? row.name : `${row.name} <${row.email}>`);
}
