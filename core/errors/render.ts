import type { ErrorDetails, GatewayError } from './table.ts';
import type { Dialect, Format } from '../catalog/formats.ts';
import type { Reply } from '../pipeline/reply.ts';

/** Who is told: anything with these three, an exchange for instance. */
export interface Caller {
  readonly id: string;
  readonly format: Format | undefined;
  readonly dialect: Dialect;
}

/** The only place where an error becomes bytes: the body, status and headers that the caller's SDK understands. */
export function renderError(error: GatewayError, caller: Caller): Reply {
  const status = error.status(caller.format);
  return {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...retryHeaders(error.details),
      ...(error.isFinal && { 'x-should-retry': 'false' }),
      ...error.details.headers,
    },
    body: JSON.stringify(errorBody(error, caller)),
  };
}

function retryHeaders({ retryAfter }: ErrorDetails): Record<string, string> {
  // Whole seconds, rounded up: a client that waits exactly this long must not be early.
  return retryAfter === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) };
}

/** The error object of the caller's dialect. Shapes: OpenAI, Anthropic and Gemini API references, "Errors". */
function errorBody(error: GatewayError, { dialect, id, format }: Caller): object {
  const { type, code } = error.wording(dialect);
  const { param } = error.details;
  // An upstream's own words say where it is, in its format.
  const isPlaced = dialect === 'openai' || error.code === 'upstream_rejected';
  const message = isPlaced ? error.messageFor(dialect) : placed(error.messageFor(dialect), param);
  if (dialect === 'anthropic') return { type: 'error', error: { type, message }, request_id: id };
  if (dialect === 'google') return { error: { code: error.status(format), message, status: type } };
  return { error: { message, type, param: param ?? null, code } };
}

/** The parameter at fault is part of the message where the dialect has no member for it. */
function placed(message: string, param: string | undefined): string {
  return param === undefined || message.includes(param) ? message : `${param}: ${message}`;
}

/**
 * The error as the last thing in an event stream that has begun. A stream that simply ended would be taken for
 * a finished answer, or repeated without anybody knowing why.
 */
export function renderStreamError(error: GatewayError, caller: Caller): string {
  if (caller.dialect === 'anthropic') return `event: error\ndata: ${JSON.stringify(errorBody(error, caller))}\n\n`;
  if (caller.dialect === 'google') return `data: ${JSON.stringify(errorBody(error, caller))}\n\n`;
  if (caller.format === 'responses') return renderResponseFailed(error, caller.id, 0);
  return `data: ${JSON.stringify(errorBody(error, caller))}\n\ndata: [DONE]\n\n`;
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

/** What keeps a silent stream alive on the way; ignored by every client of the format. */
export function renderKeepAlive(format: Format | undefined): string {
  return format === 'messages' ? 'event: ping\ndata: {"type":"ping"}\n\n' : ': keep-alive\n\n';
}
