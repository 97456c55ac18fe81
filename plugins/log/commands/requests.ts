import { text } from '#core/business/operator-actions/action-kind.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { filterByStatus, type RequestFilter } from '#core/gateway/records/filter.ts';
import { boolean, type Infer, object } from '#core/platform/schema.ts';
import { defineView, type TextReader } from '#core/web/resources/field.ts';
import { defineResource } from '#core/web/resources/resource.ts';
import { createSelectionFilter, selection, status } from './selection.ts';

const query = object({
  ...selection,
  status,
  failover: boolean('Only requests for which more than one route was tried.'),
  cached: boolean('Only replies from the cache.'),
  // Covers ids up to the year 2527; no request can be later.
  after: { ...text('Id of the last request on the previous page.'), pattern: '^req_0[\\da-f]{11}7[\\da-f]{19}$' },
});

export type RequestQuery = Infer<typeof query>;

type RequestEntry = Omit<RequestRecord, 'started_at'> & { readonly started_at: Date };

export function toRequestEntry(record: RequestRecord): RequestEntry {
  return { ...record, started_at: new Date(record.started_at) };
}

export const tableOptions = { numericColumns: [4, 5, 6, 7, 8] };

export const requests = defineResource({
  name: 'request',
  summary: 'list requests, newest first; without since, those of the last 24 hours',
  query,
  view: defineView<RequestEntry>()({
    time: { type: 'time', isExact: true, of: 'started_at' },
    status: {
      type: 'state',
      kinds: { refused: 'warn', failed: 'bad', interrupted: 'bad', aborted: 'info' },
      of: 'outcome',
      print: formatStatus,
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
    in: { type: 'count', print: (record, reader) => formatTokens(record.input_tokens, record, reader) },
    out: { type: 'count', print: (record, reader) => formatTokens(record.output_tokens, record, reader) },
    key: { type: 'id', of: 'key_hint' },
    request: { type: 'id', of: 'id' },
  }),
  async list(host, filters, { limit }) {
    const { listRequests } = await import('#core/gateway/records/read-requests.ts');
    const filter = await createRequestFilter(host, filters);
    const { records, next = null } = await listRequests(host.database, filter, { limit, before: filters.after });
    return { entries: records.map(toRequestEntry), next };
  },
});

/** Returns a text such as `200` or `429 refused`. */
export function formatStatus({ status: code, outcome }: Pick<RequestRecord, 'status' | 'outcome'>): string {
  const outcomeText = outcome === 'answered' ? [] : [outcome === 'aborted' ? 'client left' : outcome];
  return [...(code === null ? [] : [code]), ...outcomeText].join(' ');
}

function formatTokens(
  count: number | null,
  { usage_estimated: isEstimated }: RequestEntry,
  { format }: TextReader,
): string {
  // `~` marks what the gateway estimated.
  return count === null ? '' : `${isEstimated === true ? '~' : ''}${format.number(count)}`;
}

/** @throws ActionRefused or AccountError for an unknown account or model */
export async function createRequestFilter(
  host: Host,
  { status: wantedStatus, failover: hasFailover, cached: isCached, ...members }: RequestQuery,
): Promise<RequestFilter & { readonly since: number }> {
  const statusFilter = wantedStatus === undefined ? {} : filterByStatus(wantedStatus);
  return { ...(await createSelectionFilter(host, members)), ...statusFilter, hasFailover, isCached };
}
