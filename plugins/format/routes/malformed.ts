import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { GatewayError } from '#core/platform/errors/table.ts';

type Malformation =
  | 'stream_unasked'
  | 'stream_missing'
  | 'body_empty'
  | 'body_malformed'
  | 'body_unanswered'
  | 'event_too_large'
  | 'event_truncated'
  | 'excess';

/** The error for bytes of an upstream that are no answer. @param excess of which an answer has too much */
export function malformed(what: Malformation, excess = ''): GatewayError {
  return new GatewayError('upstream_failed', upstreamReason(`upstream.reason.${what}`, { excess }));
}
