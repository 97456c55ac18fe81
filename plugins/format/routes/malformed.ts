import { GatewayError } from '#core/platform/errors/table.ts';

/** The error for bytes of an upstream that are no answer. */
export function malformed(what: string): GatewayError {
  return new GatewayError('upstream_failed', `The upstream sent ${what}.`);
}
