import type { GatewayError } from '#core/errors/table.ts';

/** The error that ends a stream before its response has begun. @param id of the exchange */
export function renderStreamError(error: GatewayError, id: string): string {
  return renderResponseFailed(error, id, 0);
}

/** `response.failed` is the only failure that both the openai SDK and Codex understand inside a stream. */
export function renderResponseFailed(
  error: GatewayError,
  id: string,
  sequenceNumber: number,
  response: object = {},
): string {
  const event = {
    type: 'response.failed',
    sequence_number: sequenceNumber,
    response: {
      id,
      object: 'response',
      created_at: Math.floor(Date.now() / 1000),
      output: [],
      ...response,
      status: 'failed',
      error: { code: error.wording('openai').code ?? 'server_error', message: error.messageFor('openai') },
    },
  };
  return `event: response.failed\ndata: ${JSON.stringify(event)}\n\n`;
}
