import { text } from '#core/business/operator-actions/action-kind.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import { boolean, type Infer, object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { defineResource } from '#core/web/resources/resource.ts';
import { filterByStatus, readSelection, selection, status } from './selection.ts';

const query = object({
  ...selection,
  status,
  failover: boolean('Only requests that more than one route was tried for.'),
  cached: boolean('Only replies from the cache.'),
  // Of the years to 2527: no later time is one of a request.
  after: { ...text('The id of the last request of the page before.'), pattern: '^req_0[\\da-f]{11}7[\\da-f]{19}$' },
});

export type RequestQuery = Infer<typeof query>;

/** Requests as commands and the API list them; those of a day unless `since` says otherwise. */
export const requests = defineResource({
  name: 'request',
  summary: 'list requests, the newest first; without since those of the last 24 hours',
  query,
  // Commands draw their own table, which is continued while they follow.
  view: defineView<object>()({}),
  none: 'No request found.',
  async list(host, asked, { limit }) {
    const [{ listUpTo }, { requestToJson }] = await Promise.all([
      import('./print-requests.ts'),
      import('./describe-requests.ts'),
    ]);
    const { records, next = null } = await listUpTo(
      host.database,
      await readRequestFilter(host, asked),
      limit,
      asked.after,
    );
    return { entries: records.map(requestToJson), next };
  },
});

/** @throws CheckoutError, AccountError */
export async function readRequestFilter(
  host: Host,
  { status: wanted, failover: hasFailover, cached: isCached, ...selected }: RequestQuery,
): Promise<RequestFilter & { readonly since: number }> {
  return { ...(await readSelection(host, selected)), ...filterByStatus(wanted), hasFailover, isCached };
}

/** `GET /operator/api/requests/{handle}`. */
export const requestReading: OperatorReading = {
  path: '/requests/{handle}',
  summary: 'read a request with its attempts, times, tokens and notes',
  query: {},
  read: async ({ database }, id) => (await (await import('./print-requests.ts')).readRequest(database, id)).json,
};
