import { type ErrorMeaning, GatewayError } from '#core/platform/errors/table.ts';
import { isFilled, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { parseRetryDelay } from './retry-after.ts';
import { outputLimitOf } from './output-limit.ts';
import { areCodesOf, areWordsOf, meaningOfServerWords } from './upstream-words.ts';

/** An error as an upstream reports it, in any of many shapes. */
export interface ReportedError {
  readonly message: string | undefined;
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
  /** Of Google's `ErrorInfo`, such as CONSUMER_SUSPENDED. */
  readonly reason?: string | undefined;
  /** Anthropic's. */
  readonly details?: JsonObject | undefined;
  /** Seconds to wait, as words or details say. */
  readonly retryAfter?: number | undefined;
  /** True for a code that means an invalid request, inside a 200. */
  readonly isRejection?: boolean;
  /** Context size in tokens, which llama.cpp reports next to its message. */
  readonly contextSize?: number | undefined;
}

/**
 * Reads `{error: {message, type, code, param}}`, `{error: "text"}`, `{object: "error", message}` and `{base_resp}`.
 * Undefined when the value reports no error, without regard to the status. An error without any words is none: servers in Go
 * write one into each answer.
 */
export function readReportedError(body: JsonValue | undefined): ReportedError | undefined {
  if (!isJsonObject(body)) return undefined;
  const { error } = body;
  if (isJsonObject(error) && isFilled(error)) return describe(error);
  if (typeof error === 'string' && error !== '') return { ...describe(body), message: error };
  if (body['object'] === 'error') return describe(body);
  const status = isJsonObject(body['base_resp']) ? body['base_resp'] : undefined;
  if (status === undefined || status['status_code'] === 0 || status['status_code'] === undefined) return undefined;
  const code = text(status['status_code']);
  const type = minimaxTypes.get(code ?? '');
  const isRejection = minimaxRejections.has(code ?? '');
  return { message: text(status['status_msg']), type, code, param: undefined, isRejection };
}

/** MiniMax sends these with status 200. Source: MiniMax API docs, "Error Codes". */
const minimaxTypes: ReadonlyMap<string, string> = new Map([
  ['1001', 'DEADLINE_EXCEEDED'],
  ['1002', 'rate_limit_error'],
  ['1004', 'authentication_error'],
  ['1008', 'billing_error'],
  ['1039', 'rate_limit_error'],
  ['1041', 'rate_limit_error'],
  ['2049', 'authentication_error'],
]);
/** Those of forbidden content, unreadable characters and wrong parameters. */
const minimaxRejections: ReadonlySet<string> = new Set(['1026', '1042', '2013']);

/** Reads the error in a body with an error status, where a bare `message` or `detail` counts as well. */
export function readRefusal(body: JsonObject | undefined): ReportedError {
  return readReportedError(body) ?? describe(body ?? {});
}

/** Returns true if the prompt does not fit the context: another route may have a larger one. */
export function isContextOverflow({ type, code, message }: Pick<ReportedError, 'type' | 'code' | 'message'>): boolean {
  if (areCodesOf('overflow', [type, code])) return true;
  // A limit of output tokens above the context is not the prompt's fault.
  return areWordsOf('overflow', message) && outputLimitOf(message) === undefined && !areWordsOf('limit', message);
}

/** Servers' wordings for the context's size when a prompt is too long: the first number is the context size. */
const windowWords =
  /(?:context size \(|maximum context length (?:is|of) |context length \(|batch size: |context window of |must have less than |must be <= )(\d+)/i;

/** Returns the tokens of the context, where a refusal names them. */
export function contextWindowOf({ contextSize, message }: ReportedError): number | undefined {
  const named = contextSize ?? Number(windowWords.exec(message ?? '')?.[1] ?? Number.NaN);
  return named > 0 ? named : undefined;
}

/** Text in quotation marks may be the client's. An apostrophe inside a word is not a quotation mark. */
const quoted = /"[^"]*"|`[^`]*`|“[^”]*”|‘[^’]*’|「[^」]*」|(?<!\w)'[^']*'(?!\w)/g;

/**
 * Returns true if the upstream does not have the model, or the key has no access to it. The client named one of the catalog, which exists.
 */
export function isUnknownModel({ code, message }: Pick<ReportedError, 'code' | 'message'>): boolean {
  return areCodesOf('model', [code]) || areWordsOf('missing', message);
}

const clientThings =
  /\b(file|thread|previous[ _]response|resp|item|conv|conversation|container|cntr|vector[ _]?store|vs|skill|prompt|pmpt|cached ?contents?)(\b|[_-])/i;

/** Returns true for a 404 about an object of the client; any other is about the model or the path, which the gateway chose. */
export function isClientObjectMissing({ code, message }: Pick<ReportedError, 'code' | 'message'>): boolean {
  return clientThings.test(`${code ?? ''} ${message ?? ''}`);
}

/** Returns true if the content of the request was refused: another key, and usually another route, refuses it too. */
export function isModeration({ type, code, message }: ReportedError): boolean {
  return areCodesOf('policy', [type, code]) || areWordsOf('policy', message);
}

/** Messages that repeat names chosen by the client: their words do not count. */
const echo = /not permitted|unrecognized|unknown (name|field|parameter)|unexpected/i;

/** Returns the meaning of an error by its codes and message; undefined if the status decides. */
export function meaningOf(reported: ReportedError): ErrorMeaning | undefined {
  if (isContextOverflow(reported)) return 'overflow';
  if (outputLimitOf(reported.message) !== undefined || areWordsOf('limit', reported.message)) return 'limit';
  const ofServer = meaningOfServerWords(reported.message);
  if (ofServer !== undefined) return ofServer;
  const { type, code } = reported;
  const words = echo.test(reported.message ?? '') ? '' : (reported.message ?? '').trim();
  const own = words.replace(quoted, '');
  if (areCodesOf('key', [type, code]) || areWordsOf('key', words)) return 'key';
  for (const meaning of ['capacity', 'timeout', 'throttled'] as const)
    if (areCodesOf(meaning, [type, code]) || areWordsOf(meaning, own)) return meaning;
  return areCodesOf('model', [code]) || areWordsOf('model', words) ? 'model' : undefined;
}

/** Secrets that a vendor's message may contain: credentials, accounts and addresses of the operator. */
const secrets =
  /\b(sk|rk|pk|xai|gsk|org|proj|acct)[-_][\w*.-]{4,}|\bAIza[\w-]{8,}|\bBearer\s+\S+|https?:\/\/\S+|\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b|(?<!\w)(?=[\da-f:]*::|([\da-f]{1,4}:){7})[\da-f:]{3,45}|[\w.+-]{1,64}@[\w-]{1,63}(\.[\w-]{1,63}){1,8}|\b([\w-]{1,63}\.){1,8}[a-z]{2,63}:\d{2,5}\b/gi;
/** Characters of a vendor's message that are searched for secrets; the rest is dropped, which bounds the time. */
const maxSearchedLength = 16_384;

/**
 * Returns a vendor's message without secrets, cut to so many characters.
 *
 * @param own known secrets: the keys of gateway.yaml, and the host
 */
export function withoutSecrets(message: string, length: number, own: readonly string[] = []): string {
  // Before cutting: half a secret is not found.
  return withoutOwn(message.slice(0, maxSearchedLength), own).replace(secrets, '[…]').slice(0, length);
}

/** Removes the known secrets only: for codes and names, which may look like secrets. */
export function withoutOwn(words: string, own: readonly string[]): string {
  return own.reduce((rest, secret) => rest.replaceAll(secret, '[…]'), words);
}

/** Avoids words on which clients retry: "unavailable", "try again", "server error". */
const keyRefusedMessage =
  'The provider of this model refused the account of this service. Your own API key is valid. Tell the operator of this service.';

/**
 * Creates the error for a rejected key of the operator, which the client must not mistake for its own.
 *
 * @param words for the log
 */
export function keyRefused(words?: string): GatewayError {
  return new GatewayError('upstream_account_rejected', keyRefusedMessage, {
    meaning: 'key',
    cause: words === undefined ? undefined : new Error(words),
  });
}

/**
 * Creates the error for a model whose routes are all rate limited.
 *
 * @param retryAfter seconds; 5 where the upstream asked for none
 * @param words for the log
 */
export function throttled(retryAfter: number = 5, words?: string): GatewayError {
  return new GatewayError('rate_limited', 'All routes of this model are rate limited. Try again later.', {
    retryAfter,
    meaning: 'throttled',
    cause: words === undefined ? undefined : new Error(words),
  });
}

/**
 * Creates the error for a server without a flag that the request needs; only the operator can set it.
 *
 * @param words for the log
 */
export function notSetUp(words?: string): GatewayError {
  return new GatewayError(
    'not_supported',
    'The server of this model is not set up for this request. Tell the operator of this service.',
    { meaning: 'setup', cause: words === undefined ? undefined : new Error(words) },
  );
}

function describe(error: JsonObject): ReportedError {
  const { message: nested } = error;
  // Mistral's details are inside the message.
  const details = isJsonObject(error['details']) ? error['details'] : undefined;
  const { message, param } = describeDetail(error['detail'] ?? (isJsonObject(nested) ? nested['detail'] : undefined));
  return {
    message: text(nested) ?? message,
    type: text(error['type']) ?? text(error['status']),
    code: text(error['code']) ?? text(details?.['error_code']),
    param: text(error['param']) ?? param,
    details,
    ...(Array.isArray(error['details']) && { reason: reasonIn(error['details']) }),
    retryAfter: parseRetryDelay(error),
    ...(typeof error['n_ctx'] === 'number' && { contextSize: error['n_ctx'] }),
  };
}

/** Google's `ErrorInfo` stands in a list of details. */
function reasonIn(details: readonly JsonValue[]): string | undefined {
  return text(details.filter(isJsonObject).find(({ reason }) => reason !== undefined)?.['reason']);
}

/** FastAPI's `detail`: a text, an object with a message, or a list of `{loc: ["body", "messages", 0], msg}`. */
function describeDetail(detail: JsonValue | undefined): { message?: string | undefined; param?: string | undefined } {
  if (isJsonObject(detail)) return { message: text(detail['message']) ?? text(detail['msg']) ?? text(detail['error']) };
  if (!Array.isArray(detail)) return { message: text(detail) };
  const mistakes = detail.filter(isJsonObject).map(({ loc, msg }) => ({ param: placeOf(loc), words: text(msg) }));
  const lines = mistakes.map(({ param, words }) => [param, words].filter((part) => part !== undefined).join(': '));
  const message = lines.filter((line) => line !== '').join('; ');
  return { message: text(message), param: mistakes[0]?.param };
}

/** `["body", "messages", 0, "role"]` as `messages[0].role`. */
function placeOf(loc: JsonValue | undefined): string | undefined {
  if (!Array.isArray(loc)) return undefined;
  const steps = loc[0] === 'body' ? loc.slice(1) : loc;
  return text(
    steps
      .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
      .join('')
      .replace(/^\./, ''),
  );
}

function text(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
