import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../json.ts';
import type { JsonSchema } from '../schema.ts';

/** The vendor whose error bodies and headers a client expects. Paths without a format (models, key) have only a dialect. */
export type Dialect = 'openai' | 'anthropic' | 'google';

interface ErrorWords {
  readonly type: string;
  readonly code: string | null;
}

/** An error code in the words of the vendors that have own ones for it. Google has one for each status. */
export interface KindWords {
  readonly openai: ErrorWords;
  readonly anthropic: string; // its type
}

/** An upstream's refusal, to be rendered in the client's dialect. */
export interface UpstreamRefusal {
  readonly status: number;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  /** The prompt exceeds the context: tools shorten it when they see their vendor's message. */
  readonly isContextOverflow?: boolean | undefined;
  /** The vendor refused the request because of its policy. */
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
  /** SDKs and tools, for people. */
  readonly clients: string;
  /** What their base URL ends in. */
  readonly basePath: '' | '/v1';
  /** Carries the key, besides `Authorization: Bearer`. */
  readonly keyHeader?: string;
  /** Change the meaning of a body. */
  readonly versionHeaders: readonly string[];
  /** Requests per period, how many can be sent at once now, and when that is the whole burst again. */
  readonly limitHeaders: readonly [limit: string, remaining: string, reset: string];
  /** How that is written: `6m0s`, or the time in RFC 3339. */
  readonly resetAs: 'duration' | 'time';
  /** True for requests that only clients of this vendor send. */
  isCaller(headers: IncomingHttpHeaders, path: string): boolean;
  /** @param status that the client gets */
  words(kind: KindWords, refusal: UpstreamRefusal | undefined, status: number): ErrorWords;
  /** Wording of "prompt too long" that the vendor's tools match; undefined where they match the code. */
  readonly overflow?: { readonly known: RegExp; readonly own: string };
  /** The body has a member for the parameter at fault. */
  readonly hasParam: boolean;
  /** The vendor sends 422, for which its SDKs have a class. */
  readonly sends422: boolean;
  errorBody(error: WrittenError): object;
  /** Of `errorBody`. */
  readonly errorSchema: JsonSchema;
  /** @param data a line of an event stream, and what ends the event */
  endStream(data: string): string;
}

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

/** Maps an upstream's error type to Anthropic's. OpenAI has one type for all invalid requests. */
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
const all = (properties: NonNullable<JsonSchema['properties']>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

const openaiLimits = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
] as const;

/** What the clients of a vendor send and read, whatever the format. Shapes: OpenAI, Anthropic and Gemini API references, "Errors". */
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
    errorSchema: all({ error: all({ message: text, type: text, param: textOrNull, code: textOrNull }) }),
    endStream: (data) => `${data}data: [DONE]\n\n`,
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
    overflow: { known: /^prompt is too long/, own: 'prompt is too long' },
    hasParam: false,
    sends422: false,
    errorBody: ({ type, message, details, id }) => ({
      type: 'error',
      error: { type, message, ...(details && { details }) },
      request_id: id,
    }),
    errorSchema: all({ type: { const: 'error' }, error: all({ type: text, message: text }), request_id: text }),
    endStream: (data) => `event: error\n${data}`,
  },
  google: {
    clients: 'Google Gen AI SDK, Gemini CLI',
    basePath: '',
    keyHeader: 'x-goog-api-key',
    versionHeaders: [],
    // Google has none.
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
      known: /input token count.*exceeds the maximum/,
      own: 'The input token count exceeds the maximum number of tokens allowed',
    },
    hasParam: false,
    sends422: false,
    errorBody: ({ status, message, type }) => ({ error: { code: status, message, status: type } }),
    errorSchema: all({ error: all({ code: { type: 'integer' }, message: text, status: text }) }),
    endStream: (data) => data,
  },
};

export const dialectNames = Object.keys(dialects) as Dialect[];
