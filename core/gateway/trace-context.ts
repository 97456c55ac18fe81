import { hash } from 'node:crypto';
import type { Exchange } from './pipeline/exchange.ts';

/** The place of a request in a trace; ids are lower-case hexadecimal. */
export interface Trace {
  readonly traceId: string;
  /** Of the span of the request. */
  readonly spanId: string;
  /** The client's span; undefined when this is the first of its trace. */
  readonly parentSpanId: string | undefined;
  readonly isSampled: boolean;
}

type TracedRequest = Pick<Exchange, 'id' | 'headers'>;

/** W3C Trace Context, section 3.2: later versions may append fields; an id of zeros is invalid. */
const traceparent = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.*)?$/;
const digitsOfId = 'req_'.length;

/**
 * The trace of a request: the client's, where it sends one, else one whose id is the digits of the request's. Everything follows
 * from the request, so nothing has to be kept for it.
 *
 * @param sample share of the traces that are recorded. The client does not decide: any client can send a header.
 */
export function traceOf({ id, headers }: TracedRequest, sample: number): Trace {
  const [, version, clientTrace, clientSpan, more] = traceparent.exec(String(headers['traceparent'] ?? '')) ?? [];
  const isValid = version !== undefined && (version !== '00' || more === undefined);
  const own = id.slice(digitsOfId);
  const traceId = isValid ? (clientTrace as string) : own;
  return {
    traceId,
    spanId: own.slice(-16),
    parentSpanId: isValid ? clientSpan : undefined,
    isSampled: isSampled(traceId, sample),
  };
}

/**
 * The span of an attempt.
 *
 * @param startedAt ms since the exchange began, as on record
 */
export function attemptSpanId({ id }: Pick<Exchange, 'id'>, route: string, startedAt: number): string {
  return spanIdFrom(`${id} ${route} ${startedAt}`);
}

export function spanIdFrom(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 16);
}

/** The headers that continue the trace at an upstream. */
export function outgoingTrace(request: TracedRequest, sample: number, spanId: string): Record<string, string> {
  const { traceId, parentSpanId, isSampled: sampled } = traceOf(request, sample);
  const { tracestate } = request.headers;
  return {
    traceparent: `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`,
    ...(parentSpanId !== undefined && typeof tracestate === 'string' && { tracestate }),
  };
}

/** Consistent for all spans of a trace, on every instance: by the 56 random bits at the end of its id (W3C Trace Context Level 2). */
function isSampled(traceId: string, sample: number): boolean {
  return Number.parseInt(traceId.slice(-14), 16) >= (1 - sample) * 2 ** 56;
}
