import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '#core/platform/json.ts';

interface ErrorRecipient {
  readonly streamId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly isCodex: boolean;
}

const retryHeaders = /^(?:retry-after|x-should-retry|x-ratelimit-)/;

const defaultRetryAfterSeconds = '2'; // without a delay, Codex ends the turn

/**
 * Writes the rejection of a request as an event. It has a status, without which clients wait for another event, headers in both places
 * where clients read them, and the request id where the Agents SDKs read it.
 *
 * Source: OpenAI SDK, `ResponseWsError`; Codex, `WrappedWebsocketErrorEvent`.
 */
export function writeErrorFrame(
  { status, headers, body }: Reply,
  { streamId, requestId, isCodex }: ErrorRecipient,
): string {
  const error = readError(body);
  const frameStatus = isCodex ? mapStatusForCodex(status, error['code']) : status;
  const isTransient = frameStatus === 429 || frameStatus === 503;
  const retryEntries = Object.entries(headers).filter(([name]) => retryHeaders.test(name));
  const frameHeaders = {
    ...(isTransient && { 'retry-after': defaultRetryAfterSeconds }),
    ...Object.fromEntries(retryEntries),
  };
  return JSON.stringify({
    type: 'error',
    status: frameStatus,
    ...(requestId !== undefined && { request_id: requestId }),
    ...(streamId !== undefined && { stream_id: streamId }),
    headers: frameHeaders,
    error: {
      type: error['type'] ?? 'invalid_request_error',
      code: error['code'] ?? null,
      message: readMessage(error),
      param: error['param'] ?? null,
      headers: frameHeaders,
    },
  });
}

interface ProtocolError {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
}

/** Writes a protocol error. OpenAI's clients recognize it by its code. */
export function writeProtocolError(error: ProtocolError, recipient: ErrorRecipient): string {
  const body = JSON.stringify({ error: { type: 'invalid_request_error', ...error } });
  return writeErrorFrame({ status: 400, headers: {}, body }, recipient);
}

export class ProtocolFault extends Error {
  override readonly name = 'ProtocolFault';
  readonly error: ProtocolError;

  constructor(error: ProtocolError) {
    super(error.message);
    this.error = error;
  }
}

/** The most named lanes that a connection can have. */
export const maxLanes = 32;

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
    message: `This WebSocket connection has reached its maximum number of distinct stream IDs (${maxLanes}). Reuse an existing stream_id or open a new WebSocket connection.`,
    param: 'stream_id',
  },
  tooOld: (minutes: number) => ({
    code: 'websocket_connection_limit_reached',
    message: `Responses websocket connection limit reached (${minutes} minutes). Create a new websocket connection to continue.`,
    param: null,
  }),
  /** This code makes clients open another connection and send the request there. */
  restarting: {
    code: 'websocket_connection_limit_reached',
    message: 'The gateway is restarting. Create a new websocket connection to continue.',
    param: null,
  },
  previousNotFound: (id: string) => ({
    code: 'previous_response_not_found',
    message: `Previous response with id '${id.slice(0, 200)}' not found.`,
    param: 'previous_response_id',
  }),
} as const;

/**
 * Maps the status of an error frame. Codex handles 400, 404, 429 and 503 correctly. For any other status it repeats the request seven times
 * and then switches to POST.
 */
function mapStatusForCodex(status: number, code: JsonValue | undefined): number {
  // For 404, Codex shows only the message rather than the whole frame.
  if (code === 'model_not_found') return 404;
  if (status === 404 || status === 429) return status;
  return status >= 500 ? 503 : 400;
}

function readError(body: Reply['body']): JsonObject {
  const parsed = typeof body === 'string' || Buffer.isBuffer(body) ? parseObject(body.toString()) : undefined;
  const error = parsed?.['error'];
  return isJsonObject(error) ? error : {};
}

function readMessage({ message }: JsonObject): string {
  return typeof message === 'string' && message !== '' ? message : 'The request failed.';
}

const codexPattern = /^codex[_-]|^codex$/i;

export function isCodexClient(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
  return (
    codexPattern.test(String(headers['originator'] ?? '')) || codexPattern.test(String(headers['user-agent'] ?? ''))
  );
}
