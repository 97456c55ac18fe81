import { hash } from 'node:crypto';
import type { Exchange } from './pipeline/exchange.ts';

/** Position of a request in a trace. Ids are lower-case hexadecimal. */
export interface Trace {
  readonly traceId: string;
  readonly spanId: string; // of the request
  readonly parentSpanId: string | undefined; // the client's; undefined if the request starts the trace
  readonly isSampled: boolean;
}

type TracedRequest = Pick<Exchange, 'id' | 'headers'>;

/** The header of W3C Trace Context, section 3.2. Later versions may append fields. An id of zeros is invalid. */
const traceparentPattern = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.*)?$/;
const idPrefixLength = 'req_'.length;

/**
 * Returns the client's trace if the request continues one, or else a trace whose id consists of the digits of the request id. Everything is
 * derived from the request, so nothing is stored.
 *
 * @param sampleShare share of traces that are recorded; the client's sampling flag is ignored, because any client can set it
 */
export function deriveTrace({ id, headers }: TracedRequest, sampleShare: number): Trace {
  const client = parseTraceparent(String(headers['traceparent'] ?? ''));
  const requestUuidHex = id.slice(idPrefixLength);
  const traceId = client?.traceId ?? requestUuidHex;
  return {
    traceId,
    spanId: requestUuidHex.slice(-16),
    parentSpanId: client?.spanId,
    isSampled: isSampled(traceId, sampleShare),
  };
}

function parseTraceparent(header: string): { readonly traceId: string; readonly spanId: string } | undefined {
  const [, version, traceId, spanId, extraFields] = traceparentPattern.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return version === '00' && extraFields !== undefined ? undefined : { traceId, spanId };
}

/** @param startedAt ms since the start of the exchange, as recorded */
export function createAttemptSpanId({ id }: Pick<Exchange, 'id'>, route: string, startedAt: number): string {
  return createSpanId(`${id} ${route} ${startedAt}`);
}

/** Derives a span id from a text, so that every instance gets the same id. */
export function createSpanId(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 16);
}

export function createTraceHeaders(
  request: TracedRequest,
  sampleShare: number,
  spanId: string,
): Record<string, string> {
  const trace = deriveTrace(request, sampleShare);
  const { tracestate } = request.headers;
  return {
    traceparent: `00-${trace.traceId}-${spanId}-${trace.isSampled ? '01' : '00'}`,
    ...(trace.parentSpanId !== undefined && typeof tracestate === 'string' && { tracestate }),
  };
}

/**
 * Depends only on the last 56 bits of the trace id, which are random (W3C Trace Context Level 2), so the decision is the same for all spans
 * of a trace and on every instance.
 */
function isSampled(traceId: string, sampleShare: number): boolean {
  // The largest ids are rounded up to 2 ** 56.
  return sampleShare > 0 && Number.parseInt(traceId.slice(-14), 16) >= (1 - sampleShare) * 2 ** 56;
}
