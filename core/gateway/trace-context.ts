import { hash } from 'node:crypto';
import type { Exchange } from './pipeline/exchange.ts';

/** Position of a request in a trace; ids are lower-case hexadecimal. */
export interface Trace {
  readonly traceId: string;
  /** Span of the request. */
  readonly spanId: string;
  /** The client's span; undefined if the request starts the trace. */
  readonly parentSpanId: string | undefined;
  readonly isSampled: boolean;
}

type TracedRequest = Pick<Exchange, 'id' | 'headers'>;

/** W3C Trace Context, section 3.2: later versions may append fields; an id of zeros is invalid. */
const traceparent = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.*)?$/;
const digitsOfId = 'req_'.length;

/**
 * Returns the trace of a request: the client's if it sends one, or else one whose id is the digits of the request id. Everything is derived
 * from the request, so nothing is stored.
 *
 * @param sample share of traces that are recorded. The client does not decide, because any client can send a header.
 */
export function traceOf({ id, headers }: TracedRequest, sample: number): Trace {
  const [, version, clientTrace, clientSpan, more] = traceparent.exec(String(headers['traceparent'] ?? '')) ?? [];
  const isValid = version !== undefined && (version !== '00' || more === undefined);
  const requestDigits = id.slice(digitsOfId);
  const traceId = isValid ? (clientTrace as string) : requestDigits;
  return {
    traceId,
    spanId: requestDigits.slice(-16),
    parentSpanId: isValid ? clientSpan : undefined,
    isSampled: isSampled(traceId, sample),
  };
}

/**
 * Returns the span id of an attempt.
 *
 * @param startedAt ms since the exchange began, as recorded
 */
export function attemptSpanId({ id }: Pick<Exchange, 'id'>, route: string, startedAt: number): string {
  return spanIdFrom(`${id} ${route} ${startedAt}`);
}

export function spanIdFrom(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 16);
}

/** Returns the headers that continue the trace at an upstream. */
export function outgoingTrace(request: TracedRequest, sample: number, spanId: string): Record<string, string> {
  const { traceId, parentSpanId, isSampled: sampled } = traceOf(request, sample);
  const { tracestate } = request.headers;
  return {
    traceparent: `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`,
    ...(parentSpanId !== undefined && typeof tracestate === 'string' && { tracestate }),
  };
}

/**
 * Consistent for all spans of a trace, on every instance: decided by the 56 random bits at the end of the trace id (W3C Trace Context Level
 * 2).
 */
function isSampled(traceId: string, sample: number): boolean {
  return Number.parseInt(traceId.slice(-14), 16) >= (1 - sample) * 2 ** 56;
}
