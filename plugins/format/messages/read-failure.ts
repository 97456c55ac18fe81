import { GatewayError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { readRefusal } from '#core/upstream-error.ts';
import { failureOf } from '../canonical/read-failure.ts';

/** The error that a body or an event is. Source: Anthropic API reference, "Errors". */
export function readFailure(body: JsonObject): GatewayError {
  const reported = readRefusal(body);
  const failure = failureOf(reported);
  return reported.type === 'overloaded_error' ? new GatewayError('unavailable', failure.message) : failure;
}
