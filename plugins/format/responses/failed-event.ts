import { streamMessage } from '#core/errors/stream-wording.ts';
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
      error: { code: codeOf(error), message: streamMessage(error, error.messageFor('openai')) },
    },
  };
  return `event: response.failed\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Codes of errors that Codex does not repeat and explains to its user. Sources: Codex `sse/responses.rs`. */
const explainedCodes = new Set(['context_length_exceeded', 'insufficient_quota', 'cyber_policy']);

/** One of OpenAI's codes. Codex retries on every code except those, `invalid_prompt` and overload. */
function codeOf(error: GatewayError): string {
  if (error.code === 'rate_limited') return 'rate_limit_exceeded';
  if (!error.isFinal) return 'server_error';
  const { code } = error.wording('openai');
  return code !== null && explainedCodes.has(code) ? code : 'invalid_prompt';
}
