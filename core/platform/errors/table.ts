import type { JsonObject } from '../json.ts';
import { type Dialect, dialects, type KindWords, type UpstreamRefusal } from './dialects.ts';

/** Error format for the clients of a wire format. */
export interface Audience {
  readonly dialect: Dialect;
  /** Statuses that replace those of the table, where clients of the format would retry without effect. */
  readonly statuses?: Partial<Readonly<Record<ErrorCode, number>>> | undefined;
  /**
   * Writes the error that ends an event stream. Default: as the dialect does.
   *
   * @param id of the exchange
   */
  renderStreamError?(error: GatewayError, id: string): string;
  /** Keeps an idle event stream alive; a comment when left out. */
  readonly keepAlive?: string | undefined;
}

/**
 * Wire format of each error code. Statuses and types are those that the official SDKs and tools act on
 * (OpenAI and Anthropic API references; retries of real clients were observed).
 */
interface ErrorKind extends KindWords {
  readonly status: number;
  /** Not retryable, although clients retry the status; see `isFinal`. */
  readonly final?: true;
  /** A failure of the service, although the status is a 4xx; see `isFailure`. */
  readonly failure?: true;
}

/** Arguments: status, OpenAI's type and code, Anthropic's type. */
function row(
  status: number,
  type: string,
  code: string | null,
  anthropic: string,
  marks?: Pick<ErrorKind, 'final' | 'failure'>,
): ErrorKind {
  return { status, openai: { type, code }, anthropic, ...marks };
}

/** The table of error codes. The key is the gateway's code; `type` and `code` are those of the client's dialect. */
export const errorKinds = {
  invalid_request: row(400, 'invalid_request_error', null, 'invalid_request_error'),
  invalid_api_key: row(401, 'invalid_request_error', 'invalid_api_key', 'authentication_error'),
  plan_inactive: row(402, 'insufficient_quota', 'insufficient_quota', 'billing_error'),
  /** The operator has blocked the account. */
  account_blocked: row(403, 'permission_error', 'account_blocked', 'permission_error'),
  forbidden: row(403, 'permission_error', 'forbidden', 'permission_error'),
  not_found: row(404, 'invalid_request_error', 'not_found', 'not_found_error'),
  model_not_found: row(404, 'invalid_request_error', 'model_not_found', 'not_found_error'),
  previous_response_not_found: row(400, 'invalid_request_error', 'previous_response_not_found', 'not_found_error'),
  /** A stored response that was requested. OpenAI's error has no code. */
  response_not_found: row(404, 'invalid_request_error', null, 'not_found_error'),
  method_not_allowed: row(405, 'invalid_request_error', null, 'invalid_request_error'),
  request_timeout: row(408, 'timeout', 'request_timeout', 'timeout_error'),
  request_too_large: row(413, 'invalid_request_error', 'request_too_large', 'request_too_large'),
  unsupported_media_type: row(415, 'invalid_request_error', null, 'invalid_request_error'),
  upgrade_required: row(426, 'invalid_request_error', null, 'invalid_request_error'),
  rate_limited: row(429, 'rate_limit_error', 'rate_limit_exceeded', 'rate_limit_error'),
  internal_error: row(500, 'server_error', null, 'api_error'),
  not_supported: row(501, 'invalid_request_error', 'not_supported', 'invalid_request_error', { final: true }),
  /** A model that is called on other endpoints. */
  wrong_endpoint: row(400, 'invalid_request_error', 'wrong_endpoint', 'invalid_request_error'),
  /** An image, file or audio for a model that does not accept it. */
  unsupported_content: row(400, 'invalid_request_error', 'not_supported', 'invalid_request_error'),
  /** An upstream refused the content of the request. The status is the upstream's own 4xx. */
  upstream_rejected: row(400, 'invalid_request_error', null, 'invalid_request_error'),
  /**
   * Every route rejected the operator's key or account. 424 (Failed Dependency), because OpenCode, pi and Codex retry a 5xx
   * forever, and clients attribute 401, 402 and 403 to their own key or account.
   */
  upstream_account_rejected: row(424, 'upstream_account_error', 'upstream_account_rejected', 'api_error', {
    failure: true,
  }),
  upstream_failed: row(502, 'server_error', 'upstream_failed', 'api_error'),
  unavailable: row(503, 'server_error', 'server_is_overloaded', 'overloaded_error'),
  shutting_down: row(503, 'server_error', 'shutting_down', 'api_error'),
  upstream_timeout: row(504, 'server_error', 'upstream_timeout', 'timeout_error'),
};

/** The name of an error, in our records and in the bodies of those formats that have codes. */
export type ErrorCode = keyof typeof errorKinds;

/**
 * The meaning of an error, read from its type, code and message, independent of its status.
 *
 * - `overflow`: the prompt is longer than the context.
 * - `key`: our credential is invalid or has no credit.
 * - `capacity`: overloaded; the same request can succeed later or elsewhere.
 * - `throttled`: the gateway sent too many requests.
 * - `timeout`: the response was not generated in time.
 * - `model`: the model does not exist.
 * - `limit`: the limit of output tokens is too large; `ErrorDetails.outputLimit` has the largest one.
 * - `unsupported`: this server does not support something in the request; another may.
 * - `setup`: the operator has not set up this server for the request.
 * - `rejected`: the request is invalid for any upstream.
 */
export type ErrorMeaning =
  | 'overflow'
  | 'key'
  | 'capacity'
  | 'throttled'
  | 'timeout'
  | 'model'
  | 'limit'
  | 'unsupported'
  | 'setup'
  | 'rejected';

/** Details of an error in addition to its code and message. */
export interface ErrorDetails {
  /** Seconds after which the same request may succeed. Becomes `retry-after`, rounded up. */
  readonly retryAfter?: number;
  /** The parameter at fault, as the client wrote it: `messages[0].content`. */
  readonly param?: string;
  /** `error.details` for clients of Anthropic's dialect: its SDKs recover by `error_code`. */
  readonly anthropic?: JsonObject;
  /** Headers that explain the refusal, lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For `upstream_rejected`. */
  readonly upstream?: UpstreamRefusal;
  /** For upstream errors: their meaning, if known. Determines the next attempt. */
  readonly meaning?: ErrorMeaning;
  /** Tokens that an answer may have, where the upstream refused the requested limit. */
  readonly outputLimit?: number | undefined;
  /** Tokens of the context, where the upstream refused a longer prompt and named them. */
  readonly contextWindow?: number | undefined;
  /** For the log only; no caller sees it. */
  readonly cause?: unknown;
}

/**
 * A refusal (4xx) or a failure (5xx) that the caller may see. The message is a sentence: what is wrong, then what to
 * do, without secrets. Tools show it to people.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.details = details;
  }

  /** Status towards the clients of a format; `undefined` for paths without one. */
  status(format: Audience | undefined): number {
    if (this.details.upstream !== undefined) return rejectedStatus(this.details.upstream.status, format);
    return format?.statuses?.[this.code] ?? errorKinds[this.code].status;
  }

  /** True when a retry cannot succeed until the client or operator changes something; sent as `x-should-retry: false`. */
  get isFinal(): boolean {
    const kind = errorKinds[this.code];
    const status = this.details.upstream?.status ?? kind.status;
    return kind.final === true || (status < 500 && !retriedStatuses.has(status));
  }

  /**
   * True when the service failed; false when it refused the request.
   *
   * @param status that the client gets
   */
  isFailure(status: number | undefined): boolean {
    const kind = errorKinds[this.code];
    return kind.failure === true || status === undefined || status < 400 || status >= 500;
  }

  /**
   * Type and code in a dialect.
   *
   * @param status that the client gets
   */
  wording(dialect: Dialect, status?: number): { type: string; code: string | null } {
    const kind = errorKinds[this.code];
    return dialects[dialect].words(kind, this.details.upstream, status ?? kind.status);
  }

  /** The message in the wording that tools of the dialect parse: Claude Code, for example, then shortens the prompt. */
  messageFor(dialect: Dialect): string {
    const message = this.message.replace(loginWord, 'API key');
    const isOverflow = this.details.upstream?.isContextOverflow === true;
    const words = isOverflow ? dialects[dialect].overflow : undefined;
    return words === undefined || words.known.test(message) ? message : `${words.own}: ${message}`;
  }
}

/** Statuses below 500 that the OpenAI and Anthropic SDKs retry: timeout, conflict, too many requests. */
const retriedStatuses = new Set([408, 409, 429]);

/** Claude Code shows "Please run /login" instead of any message with this word, with any status. */
const loginWord = /x-api-key/gi;

function rejectedStatus(status: number, format: Audience | undefined): number {
  return status === 422 && format !== undefined && !dialects[format.dialect].sends422 ? 400 : status;
}

/** The abort reason when the client disconnected. No reply is rendered for it. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('The client closed the connection.');
  }
}

/** Converts a thrown value into an error that is safe to show; a bug becomes a plain 500. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError('internal_error', 'Internal error. Quote the request id when you contact support.', {
    cause: error,
  });
}
