import type { JsonObject } from '../json.ts';

/** The vendor whose error bodies and headers a client expects. Paths without a format (models, key) have only a dialect. */
export type Dialect = 'openai' | 'anthropic' | 'google';

/** Error format for the clients of a wire format. */
export interface Audience {
  readonly dialect: Dialect;
  /** Statuses that replace those of the table, where clients of the format would retry without effect. */
  readonly statuses?: Partial<Readonly<Record<ErrorCode, number>>> | undefined;
  /** Writes the error that ends an event stream. Default: as the dialect does. @param id of the exchange */
  renderStreamError?(error: GatewayError, id: string): string;
  /** Keeps an idle event stream alive; a comment when left out. */
  readonly keepAlive?: string | undefined;
}

/**
 * Wire format of each error code. Statuses and types are those that the official SDKs and tools act on
 * (OpenAI and Anthropic API references; retries of real clients were observed).
 */
interface ErrorKind {
  readonly status: number;
  readonly openai: { readonly type: string; readonly code: string | null };
  readonly anthropic: string;
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
  /** For `upstream_rejected`: the upstream's error, to be rendered in the client's dialect. */
  readonly upstream?: {
    readonly status: number;
    readonly type?: string | undefined;
    readonly code?: string | undefined;
    /** The prompt exceeds the context: tools shorten it when they see their vendor's message. */
    readonly isContextOverflow?: boolean | undefined;
    /** The vendor refused the request because of its policy. */
    readonly isPolicyRefusal?: boolean | undefined;
  };
  /** For upstream errors: their meaning, if known. Determines the next attempt. */
  readonly meaning?: ErrorMeaning;
  /** Tokens that an answer may have, where the upstream refused the requested limit. */
  readonly outputLimit?: number | undefined;
  /** Tokens of the context, where the upstream refused a longer prompt and named them. */
  readonly contextWindow?: number | undefined;
  /** For the log only; no caller sees it. */
  readonly cause?: unknown;
}

/** Wording of "prompt too long" that the vendors' tools match. OpenAI's tools match the code instead. */
const overflowWords = {
  openai: undefined,
  anthropic: { known: /^prompt is too long/, own: 'prompt is too long' },
  google: {
    known: /input token count.*exceeds the maximum/,
    own: 'The input token count exceeds the maximum number of tokens allowed',
  },
} as const satisfies Readonly<Record<Dialect, { readonly known: RegExp; readonly own: string } | undefined>>;

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

  /** True when the service failed; false when it refused the request. @param status that the client gets */
  isFailure(status: number | undefined): boolean {
    const kind = errorKinds[this.code];
    return kind.failure === true || status === undefined || status < 400 || status >= 500;
  }

  /** Type and code in a dialect. @param status that the client gets */
  wording(dialect: Dialect, status?: number): { type: string; code: string | null } {
    const kind = errorKinds[this.code];
    const { upstream } = this.details;
    if (dialect === 'google') return { type: googleStatus(status ?? kind.status), code: null };
    if (dialect === 'anthropic') return { type: anthropicType(upstream) ?? kind.anthropic, code: null };
    return { type: openaiType(upstream) ?? kind.openai.type, code: openaiCode(upstream) ?? kind.openai.code };
  }

  /** The message in the wording that tools of the dialect parse: Claude Code, for example, then shortens the prompt. */
  messageFor(dialect: Dialect): string {
    const message = this.message.replace(loginWord, 'API key');
    const isOverflow = this.details.upstream?.isContextOverflow === true;
    const words = isOverflow ? overflowWords[dialect] : undefined;
    return words === undefined || words.known.test(message) ? message : `${words.own}: ${message}`;
  }
}

/** Statuses below 500 that the OpenAI and Anthropic SDKs retry: timeout, conflict, too many requests. */
const retriedStatuses = new Set([408, 409, 429]);

/** Claude Code shows "Please run /login" instead of any message with this word, with any status. */
const loginWord = /x-api-key/gi;

/** OpenAI's SDKs have a class for 422; the other vendors do not send it. */
function rejectedStatus(status: number, format: Audience | undefined): number {
  return status === 422 && format !== undefined && format.dialect !== 'openai' ? 400 : status;
}

type UpstreamWords = ErrorDetails['upstream'];

/** Types of the Anthropic API's errors, by status. Source: Anthropic API reference, "Errors". */
const anthropicTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
};
const anthropicWords = new Set(Object.values(anthropicTypes));

/** `status` of Google's errors, by HTTP status. Source: google.rpc.Code. */
const googleStatuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  413: 'INVALID_ARGUMENT',
  424: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  504: 'DEADLINE_EXCEEDED',
};

function googleStatus(status: number): string {
  return googleStatuses[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'UNAVAILABLE');
}

/** Maps an upstream's error type to Anthropic's. OpenAI has one type for all invalid requests. */
function anthropicType(upstream: UpstreamWords): string | undefined {
  const type = upstream?.type;
  if (type !== undefined && type !== 'invalid_request_error' && anthropicWords.has(type)) return type;
  return upstream && anthropicTypes[upstream.status];
}

function openaiType(upstream: UpstreamWords): string | undefined {
  const type = upstream?.type;
  if (type === undefined || type === 'invalid_request_error') return type;
  return anthropicWords.has(type) || /^[A-Z_]+$|^\d+$/.test(type) ? undefined : type;
}

function openaiCode(upstream: UpstreamWords): string | undefined {
  if (upstream?.isContextOverflow === true) return 'context_length_exceeded';
  // OpenAI clients do not know numeric codes or Google's upper-case codes.
  return upstream?.code !== undefined && /^[a-z]/.test(upstream.code) ? upstream.code : undefined;
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
