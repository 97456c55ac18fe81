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

/** @param excess the kind of value that the answer has too many of */
export function createMalformedReplyError(malformation: Malformation, excess = ''): GatewayError {
  return new GatewayError('upstream_failed', upstreamReason(`upstream.reason.${malformation}`, { excess }));
}
