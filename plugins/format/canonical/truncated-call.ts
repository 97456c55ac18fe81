import { GatewayError } from '#core/errors/table.ts';

/** The failure of an answer that ends inside a call without a finish reason: a client might run half of a command. */
export function truncatedCall(): GatewayError {
  return new GatewayError('upstream_failed', 'The upstream ended its response inside a tool call.');
}
