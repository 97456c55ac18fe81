import { GatewayError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { isContextOverflow, readRefusal, reportedFailure } from '#core/upstream-error.ts';

/** The error that a body or an event is. Source: Anthropic API reference, "Errors". */
export function readFailure(body: JsonObject): GatewayError {
  const reported = readRefusal(body);
  if (isContextOverflow(reported)) {
    // Clients shorten the conversation when they are told in these words, and repeat it in vain when they are not.
    return new GatewayError('upstream_rejected', reported.message ?? 'the prompt is longer than the context', {
      upstream: { status: 400, code: 'context_length_exceeded', isContextOverflow: true },
    });
  }
  const failure = reportedFailure(reported);
  return reported.type === 'overloaded_error' ? new GatewayError('unavailable', failure.message) : failure;
}
