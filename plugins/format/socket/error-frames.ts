import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '#core/platform/json.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';

interface Recipient {
  /** The lane of the request at fault; undefined if unknown and for the lane without a name. */
  readonly streamId?: string | undefined;
  /** Id of the exchange; undefined for a message that never became an exchange. */
  readonly requestId?: string | undefined;
  readonly isCodex: boolean;
}

/** Retry headers of a rejected POST. */
const retryHeaders = /^(?:retry-after|x-should-retry|x-ratelimit-)/;

const defaultRetryAfter = '2'; // seconds, if a retryable error names none: without them, Codex ends the turn

/**
 * Writes the rejection of a request as an event. It has a status because without it clients wait for another event, headers in both
 * places where clients read them, and the request id where Agents SDKs read it.
 *
 * Source: OpenAI SDK, `ResponseWsError`; Codex, `WrappedWebsocketErrorEvent`.
 */
export function errorFrame({ status, headers, body }: Reply, { streamId, requestId, isCodex }: Recipient): string {
  const given = bodyOf(body);
  const own = isCodex ? statusForCodex(status, given['code']) : status;
  const isTransient = own === 429 || own === 503;
  const kept = Object.entries(headers).filter(([name]) => retryHeaders.test(name));
  const sent = { ...(isTransient && { 'retry-after': defaultRetryAfter }), ...Object.fromEntries(kept) };
  return JSON.stringify({
    type: 'error',
    status: own,
    ...(requestId !== undefined && { request_id: requestId }),
    ...(streamId !== undefined && { stream_id: streamId }),
    headers: sent,
    error: {
      type: given['type'] ?? 'invalid_request_error',
      code: given['code'] ?? null,
      message: messageOf(given),
      param: given['param'] ?? null,
      headers: sent,
    },
  });
}

/** Writes a protocol error, which OpenAI's clients identify by its code. */
export function protocolError(error: ProtocolError, recipient: Recipient): string {
  const body = JSON.stringify({ error: { type: 'invalid_request_error', ...error } });
  return errorFrame({ status: 400, headers: {}, body }, recipient);
}

interface ProtocolError {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
}

/** A message's violation of the protocol. */
export class ProtocolFault extends Error {
  override readonly name = 'ProtocolFault';
  readonly error: ProtocolError;

  constructor(error: ProtocolError) {
    super(error.message);
    this.error = error;
  }
}

/** Maximum number of named lanes of a connection. */
export const mostLanes = 32;

/** Source: OpenAI guide "WebSocket mode". */
export const protocolErrors = {
  invalidStreamId: {
    code: 'invalid_stream_id',
    message:
      "The 'stream_id' field must be a non-empty string with at most 256 characters and may only contain letters, numbers, underscores, hyphens, and periods.",
    param: 'stream_id',
  },
  tooManyLanes: {
    code: 'websocket_stream_limit_reached',
    message: `This WebSocket connection has reached its maximum number of distinct stream IDs (${mostLanes}). Reuse an existing stream_id or open a new WebSocket connection.`,
    param: 'stream_id',
  },
  tooOld: (minutes: number) => ({
    code: 'websocket_connection_limit_reached',
    message: `Responses websocket connection limit reached (${minutes} minutes). Create a new websocket connection to continue.`,
    param: null,
  }),
  /** On this code clients open another connection and send the request there. */
  restarting: {
    code: 'websocket_connection_limit_reached',
    message: 'The gateway is restarting. Create a new websocket connection to continue.',
    param: null,
  },
  /** A response that cannot be continued. */
  previousNotFound: (id: string) => ({
    code: 'previous_response_not_found',
    message: `Previous response with id '${id.slice(0, 200)}' not found.`,
    param: 'previous_response_id',
  }),
} as const;

/**
 * The status of an error frame. Codex handles 400, 404, 429 and 503 correctly; for any other status it repeats the request seven times
 * and then switches to POST.
 */
function statusForCodex(status: number, code: JsonValue | undefined): number {
  // With 404 Codex shows only the message, not the whole frame.
  if (code === 'model_not_found') return 404;
  if (status === 404 || status === 429) return status;
  return status >= 500 ? 503 : 400;
}

function bodyOf(body: Reply['body']): JsonObject {
  const parsed = typeof body === 'string' || Buffer.isBuffer(body) ? parseObject(body.toString()) : undefined;
  const error = parsed?.['error'];
  return isJsonObject(error) ? error : {};
}

function messageOf({ message }: JsonObject): string {
  return typeof message === 'string' && message !== '' ? message : 'The request failed.';
}

const codex = /^codex[_-]|^codex$/i;

/** True for Codex, identified by its originator or user agent. */
export function namesCodex(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
  return codex.test(String(headers['originator'] ?? '')) || codex.test(String(headers['user-agent'] ?? ''));
}
