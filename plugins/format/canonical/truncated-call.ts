import { GatewayError } from '#core/errors/table.ts';

/** The failure of a reply that ends inside a tool call without a finish reason: a client might run half a command. */
export function truncatedCall(): GatewayError {
  return new GatewayError('upstream_failed', 'The upstream ended its response inside a tool call.');
}
