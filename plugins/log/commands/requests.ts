import { text } from '#core/business/operator-actions/action-kind.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { filterByStatus, type RequestFilter } from '#core/gateway/records/filter.ts';
import { boolean, type Infer, object } from '#core/platform/schema.ts';
import { defineView, type TextReader } from '#core/web/resources/field.ts';
import { defineResource } from '#core/web/resources/resource.ts';
import { readSelection, selection, status } from './selection.ts';

const query = object({
  ...selection,
  status,
  failover: boolean('Only requests that more than one route was tried for.'),
  cached: boolean('Only replies from the cache.'),
  // Ids of times up to the year 2527; later times cannot belong to a request.
  after: { ...text('The id of the last request of the page before.'), pattern: '^req_0[\\da-f]{11}7[\\da-f]{19}$' },
});

export type RequestQuery = Infer<typeof query>;

/** A record in the form that commands and the API output. */
type WrittenRequest = Omit<RequestRecord, 'started_at'> & { readonly started_at: Date };

export function writeRequest(record: RequestRecord): WrittenRequest {
  return { ...record, started_at: new Date(record.started_at) };
}

/** Indexes of the numeric columns. */
export const tableOptions = { numericColumns: [4, 5, 6, 7, 8] };

/** Requests as listed by commands and the API; those of the last day unless `since` is given. */
export const requests = defineResource({
  name: 'request',
  summary: 'list requests, the newest first; without since those of the last 24 hours',
  query,
  view: defineView<WrittenRequest>()({
    time: { type: 'time', isExact: true, of: 'started_at' },
    status: {
      type: 'state',
      kinds: { refused: 'warn', failed: 'bad', interrupted: 'bad', aborted: 'info' },
      of: 'outcome',
      print: statusOf,
    },
    model: { type: 'text', value: ({ model, endpoint }) => model ?? endpoint },
    route: { type: 'text', value: ({ cache, route }) => (cache === 'hit' ? 'cache' : route) },
    tries: {
      type: 'count',
      value: ({ attempts }) => attempts?.length,
      kind: ({ has_failover: hasFailover }) => (hasFailover === true ? 'warn' : undefined),
    },
    first_token: { type: 'duration', of: 'first_content_ms' },
    total: { type: 'duration', of: 'duration_ms' },
    in: { type: 'count', print: (one, reader) => printTokens(one.input_tokens, one, reader) },
    out: { type: 'count', print: (one, reader) => printTokens(one.output_tokens, one, reader) },
    key: { type: 'id', of: 'key_hint' },
    request: { type: 'id', of: 'id' },
  }),
  async list(host, asked, { limit }) {
    const { listRequests } = await import('#core/gateway/records/read-requests.ts');
    const filter = await readRequestFilter(host, asked);
    const { records, next = null } = await listRequests(host.database, filter, { limit, before: asked.after });
    return { entries: records.map(writeRequest), next };
  },
});

/** `200`, `429 refused`. */
export function statusOf({ status: code, outcome }: Pick<RequestRecord, 'status' | 'outcome'>): string {
  const word = outcome === 'answered' ? [] : [outcome === 'aborted' ? 'client left' : outcome];
  return [...(code === null ? [] : [code]), ...word].join(' ');
}

/** Formats token counts; `~` marks the gateway's own estimates. */
function printTokens(
  count: number | null,
  { usage_estimated: isEstimated }: WrittenRequest,
  { format }: TextReader,
): string {
  return count === null ? '' : `${isEstimated === true ? '~' : ''}${format.number(count)}`;
}

/** @throws CheckoutError, AccountError */
export async function readRequestFilter(
  host: Host,
  { status: wanted, failover: hasFailover, cached: isCached, ...selected }: RequestQuery,
): Promise<RequestFilter & { readonly since: number }> {
  const byStatus = wanted === undefined ? {} : filterByStatus(wanted);
  return { ...(await readSelection(host, selected)), ...byStatus, hasFailover, isCached };
}
