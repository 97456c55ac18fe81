import type { JsonObject } from '../json.ts';
import { type Dialect, dialects, type VendorErrorNames, type UpstreamRefusal } from './dialects.ts';

/** Conventions for errors sent to clients of a wire format. */
export interface Audience {
  readonly dialect: Dialect;
  /** Statuses that replace the usual ones where clients of the format would retry without success. */
  readonly statuses?: Partial<Readonly<Record<ErrorCode, number>>> | undefined;
  /** Renders the error that ends an event stream. Default: the dialect's format. */
  renderStreamError?(error: GatewayError, exchangeId: string): string;
  /** Data that keeps an idle event stream alive; default: a comment. */
  readonly keepAlive?: string | undefined;
}

/**
 * Wire format of an error code. The official SDKs and tools act on these statuses and types (OpenAI and Anthropic API references, and
 * observed retries of real clients).
 */
interface ErrorKind extends VendorErrorNames {
  readonly status: number;
  readonly final?: true; // not retryable, although clients retry the status
  readonly failure?: true; // of the service, although the status is a 4xx
}

function defineKind(
  status: number,
  openaiType: string,
  openaiCode: string | null,
  anthropicType: string,
  flags?: Pick<ErrorKind, 'final' | 'failure'>,
): ErrorKind {
  return { status, openai: { type: openaiType, code: openaiCode }, anthropic: anthropicType, ...flags };
}

/** Error kinds by the gateway's error code. `type` and `code` belong to the client's dialect. */
export const errorKinds = {
  invalid_request: defineKind(400, 'invalid_request_error', null, 'invalid_request_error'),
  invalid_api_key: defineKind(401, 'invalid_request_error', 'invalid_api_key', 'authentication_error'),
  plan_inactive: defineKind(402, 'insufficient_quota', 'insufficient_quota', 'billing_error'),
  /** The operator blocked the account. */
  account_blocked: defineKind(403, 'permission_error', 'account_blocked', 'permission_error'),
  forbidden: defineKind(403, 'permission_error', 'forbidden', 'permission_error'),
  not_found: defineKind(404, 'invalid_request_error', 'not_found', 'not_found_error'),
  model_not_found: defineKind(404, 'invalid_request_error', 'model_not_found', 'not_found_error'),
  previous_response_not_found: defineKind(
    400,
    'invalid_request_error',
    'previous_response_not_found',
    'not_found_error',
  ),
  /** A requested stored response does not exist. OpenAI's error has no code. */
  response_not_found: defineKind(404, 'invalid_request_error', null, 'not_found_error'),
  method_not_allowed: defineKind(405, 'invalid_request_error', null, 'invalid_request_error'),
  request_timeout: defineKind(408, 'timeout', 'request_timeout', 'timeout_error'),
  request_too_large: defineKind(413, 'invalid_request_error', 'request_too_large', 'request_too_large'),
  unsupported_media_type: defineKind(415, 'invalid_request_error', null, 'invalid_request_error'),
  upgrade_required: defineKind(426, 'invalid_request_error', null, 'invalid_request_error'),
  rate_limited: defineKind(429, 'rate_limit_error', 'rate_limit_exceeded', 'rate_limit_error'),
  internal_error: defineKind(500, 'server_error', null, 'api_error'),
  not_supported: defineKind(501, 'invalid_request_error', 'not_supported', 'invalid_request_error', { final: true }),
  /** The model must be called on another endpoint. */
  wrong_endpoint: defineKind(400, 'invalid_request_error', 'wrong_endpoint', 'invalid_request_error'),
  /** The model does not accept an image, file or audio in the request. */
  unsupported_content: defineKind(400, 'invalid_request_error', 'not_supported', 'invalid_request_error'),
  /** An upstream rejected the content of the request. The upstream's 4xx replaces this status. */
  upstream_rejected: defineKind(400, 'invalid_request_error', null, 'invalid_request_error'),
  /**
   * Every route rejected the operator's key or account. 424 (Failed Dependency), because OpenCode, pi and Codex retry a 5xx forever, and
   * clients attribute 401, 402 and 403 to their own key or account.
   */
  upstream_account_rejected: defineKind(424, 'upstream_account_error', 'upstream_account_rejected', 'api_error', {
    failure: true,
  }),
  upstream_failed: defineKind(502, 'server_error', 'upstream_failed', 'api_error'),
  unavailable: defineKind(503, 'server_error', 'server_is_overloaded', 'overloaded_error'),
  shutting_down: defineKind(503, 'server_error', 'shutting_down', 'api_error'),
  upstream_timeout: defineKind(504, 'server_error', 'upstream_timeout', 'timeout_error'),
};

/** Name of an error in our records, and in bodies of formats with codes. */
export type ErrorCode = keyof typeof errorKinds;

/**
 * Meaning of an error, derived from its type, code and message, independently of its status.
 *
 * - `overflow`: the prompt exceeds the context.
 * - `key`: our credential is invalid or out of credit.
 * - `capacity`: overloaded; the same request can succeed later or elsewhere.
 * - `throttled`: the gateway sent too many requests.
 * - `timeout`: the response was not generated in time.
 * - `model`: the model does not exist.
 * - `limit`: the output token limit is too large; the maximum is in `ErrorDetails.outputLimit`.
 * - `unsupported`: this server does not support part of the request; another may.
 * - `setup`: the operator did not set up this server for the request.
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

export interface ErrorDetails {
  /** Seconds after which the same request may succeed. Sent as `retry-after`, rounded up. */
  readonly retryAfter?: number;
  /** The invalid parameter, as written by the client: `messages[0].content`. */
  readonly param?: string;
  /** `error.details` in Anthropic's dialect; its SDKs use `error_code` to recover. */
  readonly anthropic?: JsonObject;
  /** Headers that explain the rejection; lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For `upstream_rejected`. */
  readonly upstream?: UpstreamRefusal;
  /** Meaning of an upstream error, if known. Determines the next attempt. */
  readonly meaning?: ErrorMeaning;
  /** Maximum output tokens, if the upstream rejected a larger limit. */
  readonly outputLimit?: number | undefined;
  /** Tokens of the context, if the upstream rejected a longer prompt and reported them. */
  readonly contextWindow?: number | undefined;
  /** Tokens of that prompt, if the upstream reported them. */
  readonly promptTokens?: number | undefined;
  /** For the log only; never shown to callers. */
  readonly cause?: unknown;
}

/**
 * A rejection (4xx) or a failure (5xx) that the caller may see. Its message states the problem, then the remedy, without secrets. Tools
 * show it to people.
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

  /** Returns the status sent to clients of a format, or of a path without one. */
  status(format: Audience | undefined): number {
    if (this.details.upstream !== undefined) return mapRejectedStatus(this.details.upstream.status, format);
    return format?.statuses?.[this.code] ?? errorKinds[this.code].status;
  }

  /** True if a retry cannot succeed until the client or operator changes something; sent as `x-should-retry: false`. */
  get isFinal(): boolean {
    const kind = errorKinds[this.code];
    const status = this.details.upstream?.status ?? kind.status;
    return kind.final === true || (status < 500 && !clientRetriedStatuses.has(status));
  }

  /** True if the service failed, false if it rejected the request. `status` is the one sent to the client. */
  isFailure(status: number | undefined): boolean {
    const kind = errorKinds[this.code];
    return kind.failure === true || status === undefined || status < 400 || status >= 500;
  }

  /** Returns the type and code in a dialect. `status` is the one sent to the client. */
  wording(dialect: Dialect, status?: number): { type: string; code: string | null } {
    const kind = errorKinds[this.code];
    return dialects[dialect].nameError(kind, this.details.upstream, status ?? kind.status);
  }

  /** Returns the message with the phrase that the dialect's tools match. Claude Code, for example, then shortens the prompt. */
  messageFor(dialect: Dialect): string {
    const message = this.message.replace(loginWord, 'API key');
    const { upstream, promptTokens = 0, contextWindow = 0 } = this.details;
    if (upstream?.isContextOverflow !== true) return message;
    const areKnown = contextWindow > 0 && promptTokens > contextWindow;
    return dialects[dialect].wordOverflow(message, areKnown ? { promptTokens, contextWindow } : undefined);
  }
}

const clientRetriedStatuses = new Set([408, 409, 429]); // below 500, by the OpenAI and Anthropic SDKs

const loginWord = /x-api-key/gi; // Claude Code shows "Please run /login" instead of any message with this word

function mapRejectedStatus(status: number, format: Audience | undefined): number {
  return status === 422 && format !== undefined && !dialects[format.dialect].sends422 ? 400 : status;
}

/** Abort reason if the client disconnects. No reply is rendered. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('The client closed the connection.');
  }
}

/** Converts a thrown value to an error that is safe to show. Bugs become a generic 500. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError('internal_error', 'Internal error. Quote the request id when you contact support.', {
    cause: error,
  });
}
