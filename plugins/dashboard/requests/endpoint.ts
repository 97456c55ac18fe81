import { principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Endpoint, Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { findRequest } from '#core/gateway/records/read-requests.ts';
import { parseRequestTime } from '#core/gateway/records/request-id.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { findRoutePosition } from '../route-names.ts';
import { dashboardSection, type RouteVisibility } from '../section.ts';

const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
const maxRecordDelayMs = 3_600_000; // how long a request may still be running, or its record may be delayed
const retryAfterSeconds = 2; // typical delay of a record

export function createRequestEndpoint(currentHost: () => Host): Endpoint {
  return {
    name: 'show_request',
    method: 'GET',
    path: '/v1/requests/{id}',
    isMetered: false,
    isAliased: true,
    documentation: { summary: 'requests.docs.show' },
    answer: (exchange) => showRequest(currentHost(), exchange),
  };
}

async function showRequest(host: Host, exchange: Exchange): Promise<Reply> {
  const { accountId } = exchange.get(principal);
  const id = exchange.params['id'] ?? '';
  const record = await findRequest(host.database, id, accountId);
  // Also not found: a request that another account sent.
  if (record === undefined) throw createNotFoundError(id, host.now());
  const { routes } = host.section(dashboardSection);
  return { status: 200, headers, body: JSON.stringify(describeRecord(record, host, routes)) };
}

function createNotFoundError(id: string, now: number): GatewayError {
  const startedAt = parseRequestTime(id);
  if (startedAt === undefined)
    return new GatewayError('not_found', `"${id}" is not a request id; ids look like req_019a…, as in x-request-id.`);
  if (now - startedAt > maxRecordDelayMs)
    return new GatewayError('not_found', `Request "${id}" not found. Records are kept for a limited time.`);
  return new GatewayError(
    'not_found',
    `Request "${id}" not found. Records appear about a second after the request ends.`,
    { retryAfter: retryAfterSeconds },
  );
}

function describeRecord(record: RequestRecord, { catalog }: Host, routes: RouteVisibility): object {
  const { error_code: code, error_message: message } = record;
  // Vendors and their models are named only if customers may see the names of routes.
  const showsNames = routes === 'names';
  return {
    object: 'request',
    id: record.id,
    created_at: new Date(record.started_at).toISOString(),
    endpoint: record.endpoint,
    format: record.format,
    model: record.model,
    alias_of: record.alias_of,
    is_stream: record.is_stream,
    outcome: record.outcome,
    status: record.status,
    error: code === null ? null : { code, message },
    duration_ms: record.duration_ms,
    first_content_ms: record.first_content_ms,
    cache: record.cache,
    usage: describeUsage(record),
    notes: record.notes ?? [],
    ...(routes !== 'hidden' && {
      route: describeRoute(record, showsNames, catalog),
    }),
    ...(showsNames && { answered_model: record.answered_model, is_other_model: record.is_other_model }),
    digest: {
      algorithm: 'sha256',
      received: record.digest_received,
      sent: record.digest_sent,
      changes: record.digest_changes ?? [],
    },
  };
}

function describeRoute({ route, model }: RequestRecord, showsNames: boolean, catalog: Host['catalog']) {
  if (route === null) return null;
  return showsNames ? route : findRoutePosition(route, model, catalog);
}

function describeUsage(record: RequestRecord): object {
  return {
    input_tokens: record.input_tokens,
    output_tokens: record.output_tokens,
    cache_read_tokens: record.cache_read_tokens,
    cache_write_tokens: record.cache_write_tokens,
    reasoning_tokens: record.reasoning_tokens,
    images: record.images,
    is_estimated: record.usage_estimated,
  };
}
