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

/**
 * The error for bytes of an upstream that are not a valid answer.
 *
 * @param excess what the answer has too many of
 */
export function malformed(what: Malformation, excess = ''): GatewayError {
  return new GatewayError('upstream_failed', upstreamReason(`upstream.reason.${what}`, { excess }));
}
