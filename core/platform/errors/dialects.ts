import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../json.ts';
import type { JsonSchema } from '../schema.ts';

/** The vendor whose error bodies and headers a client expects. Paths without a format (models, key) have only a dialect. */
export type Dialect = 'openai' | 'anthropic' | 'google';

interface ErrorWords {
  readonly type: string;
  readonly code: string | null;
}

/** An error code in the terms of the vendors that have their own. Google has one code per status. */
export interface KindWords {
  readonly openai: ErrorWords;
  readonly anthropic: string; // Anthropic's error type
}

/** An upstream's rejection, to be rendered in the client's dialect. */
export interface UpstreamRefusal {
  readonly status: number;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  /** The prompt exceeds the context: tools shorten it when they recognize their vendor's message. */
  readonly isContextOverflow?: boolean | undefined;
  /** The vendor rejected the request under its policy. */
  readonly isPolicyRefusal?: boolean | undefined;
}

interface WrittenError extends ErrorWords {
  readonly message: string;
  readonly status: number;
  readonly id: string; // of the exchange
  readonly param: string | undefined;
  readonly details: JsonObject | undefined;
}

interface DialectTraits {
  /** SDKs and tools, as shown to people. */
  readonly clients: string;
  /** End of their base URL. */
  readonly basePath: '' | '/v1';
  /** Header that may carry the key, besides `Authorization: Bearer`. */
  readonly keyHeader?: string;
  /** Headers that change the meaning of a body. */
  readonly versionHeaders: readonly string[];
  /** Headers for the requests per period, for those that can be sent at once now, and for when that is the full burst again. */
  readonly limitHeaders: readonly [limit: string, remaining: string, reset: string];
  /** Format of the reset: `6m0s`, or an RFC 3339 time. */
  readonly resetAs: 'duration' | 'time';
  /** True for requests that only this vendor's clients send. */
  isCaller(headers: IncomingHttpHeaders, path: string): boolean;
  /** @param status sent to the client */
  words(kind: KindWords, refusal: UpstreamRefusal | undefined, status: number): ErrorWords;
  /** Wording of "prompt too long" that the vendor's tools match; undefined if they match the code. */
  readonly overflow?: { readonly pattern: RegExp; readonly phrase: string };
  /** True if the body has a member for the invalid parameter. */
  readonly hasParam: boolean;
  /** True if the vendor sends 422, for which its SDKs have a class. */
  readonly sends422: boolean;
  errorBody(error: WrittenError): object;
  /** Schema of `errorBody`. */
  readonly errorSchema: JsonSchema;
  /**
   * Renders the last event of a stream that failed.
   *
   * @param data data line of the error, including the end of the event
   */
  endStream(data: string): string;
}

/** Error types of the Anthropic API by status. Source: Anthropic API reference, "Errors". */
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

/** `status` of Google's errors by HTTP status. Source: google.rpc.Code. */
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

/** Maps an upstream's error type to Anthropic's. OpenAI has one type for allRequired invalid requests. */
function anthropicType(refusal: UpstreamRefusal | undefined): string | undefined {
  const type = refusal?.type;
  if (type !== undefined && type !== 'invalid_request_error' && anthropicWords.has(type)) return type;
  return refusal && anthropicTypes[refusal.status];
}

function openaiType(refusal: UpstreamRefusal | undefined): string | undefined {
  const type = refusal?.type;
  if (type === undefined || type === 'invalid_request_error') return type;
  return anthropicWords.has(type) || /^[A-Z_]+$|^\d+$/.test(type) ? undefined : type;
}

function openaiCode(refusal: UpstreamRefusal | undefined): string | undefined {
  if (refusal?.isContextOverflow === true) return 'context_length_exceeded';
  // OpenAI clients do not know numeric codes or Google's upper-case codes.
  return refusal?.code !== undefined && /^[a-z]/.test(refusal.code) ? refusal.code : undefined;
}

const text = { type: 'string' } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const allRequired = (properties: NonNullable<JsonSchema['properties']>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

const openaiLimits = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
] as const;

/** Conventions of a vendor's clients in any format. Shapes: OpenAI, Anthropic and Gemini API references, "Errors". */
export const dialects: Readonly<Record<Dialect, DialectTraits>> = {
  openai: {
    clients: 'OpenAI SDK, Codex',
    basePath: '/v1',
    versionHeaders: ['openai-beta'],
    limitHeaders: openaiLimits,
    resetAs: 'duration',
    isCaller: () => false,
    words: ({ openai }, refusal) => ({
      type: openaiType(refusal) ?? openai.type,
      code: openaiCode(refusal) ?? openai.code,
    }),
    hasParam: true,
    sends422: true,
    errorBody: ({ message, type, param = null, code }) => ({ error: { message, type, param, code } }),
    errorSchema: allRequired({
      error: allRequired({ message: text, type: text, param: textOrNull, code: textOrNull }),
    }),
    endStream: (data) => data,
  },
  anthropic: {
    clients: 'Anthropic SDK, Claude Code',
    basePath: '',
    keyHeader: 'x-api-key',
    versionHeaders: ['anthropic-version', 'anthropic-beta'],
    limitHeaders: [
      'anthropic-ratelimit-requests-limit',
      'anthropic-ratelimit-requests-remaining',
      'anthropic-ratelimit-requests-reset',
    ],
    resetAs: 'time',
    isCaller: (headers) =>
      headers['anthropic-version'] !== undefined ||
      headers['anthropic-beta'] !== undefined ||
      (headers['x-api-key'] !== undefined && headers.authorization === undefined) ||
      /claude-cli|claude-code|^Anthropic\//.test(headers['user-agent'] ?? ''),
    words: ({ anthropic }, refusal) => ({ type: anthropicType(refusal) ?? anthropic, code: null }),
    overflow: { pattern: /^prompt is too long/, phrase: 'prompt is too long' },
    hasParam: false,
    sends422: false,
    errorBody: ({ type, message, details, id }) => ({
      type: 'error',
      error: { type, message, ...(details && { details }) },
      request_id: id,
    }),
    errorSchema: allRequired({
      type: { const: 'error' },
      error: allRequired({ type: text, message: text }),
      request_id: text,
    }),
    endStream: (data) => `event: error\n${data}`,
  },
  google: {
    clients: 'Google Gen AI SDK, Gemini CLI',
    basePath: '',
    keyHeader: 'x-goog-api-key',
    versionHeaders: [],
    // Google has no such headers.
    limitHeaders: openaiLimits,
    resetAs: 'duration',
    // Only Google's clients use this version.
    isCaller: (headers, path) =>
      /^\/(v1\/)?v1beta(\/|$)/.test(path) ||
      headers['x-goog-api-client'] !== undefined ||
      headers['x-goog-api-key'] !== undefined,
    words: (_kind, _refusal, status) => ({
      type: googleStatuses[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'UNAVAILABLE'),
      code: null,
    }),
    overflow: {
      pattern: /input token count.*exceeds the maximum/,
      phrase: 'The input token count exceeds the maximum number of tokens allowed',
    },
    hasParam: false,
    sends422: false,
    errorBody: ({ status, message, type }) => ({ error: { code: status, message, status: type } }),
    errorSchema: allRequired({ error: allRequired({ code: { type: 'integer' }, message: text, status: text }) }),
    endStream: (data) => data,
  },
};

export const dialectNames = Object.keys(dialects) as Dialect[];
