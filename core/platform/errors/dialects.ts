import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../json.ts';
import type { JsonSchema } from '../schema.ts';

/** The vendor whose error bodies and headers a client expects. Paths without a wire format (models, key) have a dialect too. */
export type Dialect = 'openai' | 'anthropic' | 'google';

interface ErrorNames {
  readonly type: string;
  readonly code: string | null;
}

/** Vendors' names of an error code. Google derives the name from the status. */
export interface VendorErrorNames {
  readonly openai: ErrorNames;
  readonly anthropic: string; // Anthropic's error type
}

/** An upstream's rejection, to be rendered in the client's dialect. */
export interface UpstreamRefusal {
  readonly status: number;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  /** The prompt exceeds the context. Tools shorten it if they recognize their vendor's message. */
  readonly isContextOverflow?: boolean | undefined;
  readonly isPolicyRefusal?: boolean | undefined;
}

/** Sizes that an upstream reports for a prompt that is too long. */
export interface PromptSizes {
  readonly promptTokens: number;
  readonly contextWindow: number;
}

interface RenderedError extends ErrorNames {
  readonly message: string;
  readonly status: number;
  readonly id: string; // of the exchange
  readonly param: string | undefined;
  readonly details: JsonObject | undefined;
}

interface DialectConventions {
  readonly vendor: string; // whose SDKs and tools use the dialect, as shown to people
  readonly clients: string; // its SDKs and tools, as shown to people
  readonly basePath: '' | '/v1'; // end of the SDKs' base URLs
  readonly keyHeader?: string; // may carry the key instead of `Authorization: Bearer`
  readonly versionHeaders: readonly string[]; // change the meaning of a body
  readonly limitHeaders: readonly [limit: string, remaining: string, reset: string]; // `reset`: until the full burst is available again
  readonly resetFormat: 'duration' | 'time'; // of the reset header: `6m0s`, or RFC 3339
  matchesClient(headers: IncomingHttpHeaders, path: string): boolean; // true for requests that only this vendor's clients send
  nameError(kind: VendorErrorNames, refusal: UpstreamRefusal | undefined, sentStatus: number): ErrorNames;
  /**
   * Adds the wording by which this vendor's tools recognize a prompt that is too long, so that they shorten it.
   *
   * @param sizes undefined if the upstream did not report both
   */
  wordOverflow(message: string, sizes: PromptSizes | undefined): string;
  readonly hasParam: boolean; // for the invalid parameter
  readonly sends422: boolean; // for which the vendor's SDKs have an error class
  renderErrorBody(error: RenderedError): object;
  readonly errorSchema: JsonSchema;
  /** Renders the last event of a failed stream. `data` is the error's data line, including the end of the event. */
  renderStreamEnd(data: string): string;
}

/** By status. Source: Anthropic API reference, "Errors". */
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
const anthropicTypeNames = new Set(Object.values(anthropicTypes));

/** `status` of an error by HTTP status. Source: google.rpc.Code. */
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

/** OpenAI uses `invalid_request_error` for all invalid requests, so that type is mapped by status. */
function findAnthropicType(refusal: UpstreamRefusal | undefined): string | undefined {
  const type = refusal?.type;
  if (type !== undefined && type !== 'invalid_request_error' && anthropicTypeNames.has(type)) return type;
  return refusal && anthropicTypes[refusal.status];
}

function findOpenaiType(refusal: UpstreamRefusal | undefined): string | undefined {
  const type = refusal?.type;
  if (type === undefined || type === 'invalid_request_error') return type;
  return anthropicTypeNames.has(type) || /^[A-Z_]+$|^\d+$/.test(type) ? undefined : type;
}

function findOpenaiCode(refusal: UpstreamRefusal | undefined): string | undefined {
  if (refusal?.isContextOverflow === true) return 'context_length_exceeded';
  // OpenAI's clients do not expect numeric codes or Google's upper-case codes.
  return refusal?.code !== undefined && /^[a-z]/.test(refusal.code) ? refusal.code : undefined;
}

const stringSchema = { type: 'string' } as const;
const nullableStringSchema = { type: ['string', 'null'] } as const;
const objectSchema = (properties: NonNullable<JsonSchema['properties']>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

const openaiLimits = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
] as const;

/** Conventions of each vendor's clients in any format. Source: OpenAI, Anthropic and Gemini API references, "Errors". */
export const dialects: Readonly<Record<Dialect, DialectConventions>> = {
  openai: {
    vendor: 'OpenAI',
    clients: 'OpenAI SDK, Codex',
    basePath: '/v1',
    versionHeaders: ['openai-beta'],
    limitHeaders: openaiLimits,
    resetFormat: 'duration',
    matchesClient: () => false,
    nameError: ({ openai }, refusal) => ({
      type: findOpenaiType(refusal) ?? openai.type,
      code: findOpenaiCode(refusal) ?? openai.code,
    }),
    // Roo Code and older versions of Cline match the words, others the code.
    wordOverflow: (message) =>
      /\bcontext (length|window)\b/i.test(message)
        ? message
        : `Your input exceeds the context window of this model: ${message}`,
    hasParam: true,
    sends422: true,
    renderErrorBody: ({ message, type, param = null, code }) => ({ error: { message, type, param, code } }),
    errorSchema: objectSchema({
      error: objectSchema({
        message: stringSchema,
        type: stringSchema,
        param: nullableStringSchema,
        code: nullableStringSchema,
      }),
    }),
    renderStreamEnd: (data) => data,
  },
  anthropic: {
    vendor: 'Anthropic',
    clients: 'Anthropic SDK, Claude Code',
    basePath: '',
    keyHeader: 'x-api-key',
    versionHeaders: ['anthropic-version', 'anthropic-beta'],
    limitHeaders: [
      'anthropic-ratelimit-requests-limit',
      'anthropic-ratelimit-requests-remaining',
      'anthropic-ratelimit-requests-reset',
    ],
    resetFormat: 'time',
    matchesClient: (headers) =>
      headers['anthropic-version'] !== undefined ||
      headers['anthropic-beta'] !== undefined ||
      (headers['x-api-key'] !== undefined && headers.authorization === undefined) ||
      /claude-cli|claude-code|^Anthropic\//.test(headers['user-agent'] ?? ''),
    nameError: ({ anthropic }, refusal) => ({ type: findAnthropicType(refusal) ?? anthropic, code: null }),
    // Claude Code 2.1.332 uses the sizes to decide how much of the conversation to drop. any-llm-go looks for "token".
    wordOverflow(message, sizes) {
      if (/^prompt is too long: \d+ tokens > \d/.test(message)) return message;
      if (sizes !== undefined)
        return `prompt is too long: ${sizes.promptTokens} tokens > ${sizes.contextWindow} maximum: ${message}`;
      const words = message.startsWith('prompt is too long') ? message : `prompt is too long: ${message}`;
      return /\btokens?\b/i.test(words) ? words : `${words} (too many tokens)`;
    },
    hasParam: false,
    sends422: false,
    renderErrorBody: ({ type, message, details, id }) => ({
      type: 'error',
      error: { type, message, ...(details && { details }) },
      request_id: id,
    }),
    errorSchema: objectSchema({
      type: { const: 'error' },
      error: objectSchema({ type: stringSchema, message: stringSchema }),
      request_id: stringSchema,
    }),
    renderStreamEnd: (data) => `event: error\n${data}`,
  },
  google: {
    vendor: 'Gemini',
    clients: 'Google Gen AI SDK, Gemini CLI',
    basePath: '',
    keyHeader: 'x-goog-api-key',
    versionHeaders: [],
    // Google defines no such headers.
    limitHeaders: openaiLimits,
    resetFormat: 'duration',
    // Only Google's clients use the versions v1beta, v1alpha and v1beta1.
    matchesClient: (headers, path) =>
      /^\/(v1\/)?v1(alpha|beta1?)(\/|$)/.test(path) ||
      headers['x-goog-api-client'] !== undefined ||
      headers['x-goog-api-key'] !== undefined,
    nameError: (_kind, _refusal, status) => ({
      type: googleStatuses[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'UNAVAILABLE'),
      code: null,
    }),
    wordOverflow(message, sizes) {
      if (/input token count.*exceeds the maximum/.test(message)) return message;
      const [count, maximum] =
        sizes === undefined ? ['', ''] : [` (${sizes.promptTokens})`, ` (${sizes.contextWindow})`];
      return `The input token count${count} exceeds the maximum number of tokens allowed${maximum}: ${message}`;
    },
    hasParam: false,
    sends422: false,
    renderErrorBody: ({ status, message, type }) => ({ error: { code: status, message, status: type } }),
    errorSchema: objectSchema({
      error: objectSchema({ code: { type: 'integer' }, message: stringSchema, status: stringSchema }),
    }),
    renderStreamEnd: (data) => data,
  },
};

export const dialectNames = Object.keys(dialects) as Dialect[];
