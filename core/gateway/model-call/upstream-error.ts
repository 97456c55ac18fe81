import type { PromptSizes } from '#core/platform/errors/dialects.ts';
import { type ErrorMeaning, GatewayError } from '#core/platform/errors/table.ts';
import { isFilled, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { parseOutputLimit } from './output-limit.ts';
import { parseRetryDelay } from './retry-after.ts';
import { codesMean, messageMeans, findServerMeaning } from './upstream-words.ts';
import { unwrapError } from './wrapped-error.ts';

/** An error reported by an upstream, in one of many shapes. */
export interface ReportedError {
  readonly message: string | undefined;
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
  readonly reason?: string | undefined; // in Google's `ErrorInfo`, such as CONSUMER_SUSPENDED
  readonly details?: JsonObject | undefined; // Anthropic's
  readonly retryAfter?: number | undefined; // seconds, from the message or the details
  readonly isRejection?: boolean; // a code inside a 200 means an invalid request
  readonly contextSize?: number | undefined; // tokens; llama.cpp reports both sizes in addition to its message
  readonly promptSize?: number | undefined;
  readonly wrappedStatus?: number | undefined; // that another gateway got from its own upstream
}

/**
 * Reads `{error: {message, type, code, param}}`, `{error: "text"}`, `{object: "error", message}`, `{type: "error", message: {type,
 * message}}`, `{base_resp}`, and `{hermes: {failed, error, error_code}}` of Hermes Agent 0.19.0, which sends the error's text as its answer.
 * Returns undefined if the value reports no error, regardless of the status. An empty error does not count, because servers written in Go
 * add one to each reply.
 */
export function readReportedError(body: JsonValue | undefined): ReportedError | undefined {
  if (!isJsonObject(body)) return undefined;
  const { error } = body;
  if (isJsonObject(error) && isFilled(error)) return readWrapped(body, error);
  if (typeof error === 'string' && error !== '') return readWrapped(body, { ...body, message: error });
  if (body['object'] === 'error') return readWrapped(body, body);
  const { hermes } = body;
  if (isJsonObject(hermes) && hermes['failed'] === true)
    return readWrapped(body, { message: hermes['error'] ?? null, code: hermes['error_code'] ?? null });
  const { type: eventType, message: nested } = body;
  if (eventType === 'error' && isJsonObject(nested)) return readWrapped(body, nested);
  const status = isJsonObject(body['base_resp']) ? body['base_resp'] : undefined;
  if (status === undefined || status['status_code'] === 0 || status['status_code'] === undefined) return undefined;
  const code = toText(status['status_code']);
  const type = minimaxTypes.get(code ?? '');
  const isRejection = minimaxRejections.has(code ?? '');
  return { message: toText(status['status_msg']), type, code, param: undefined, isRejection };
}

function readWrapped(body: JsonObject, error: JsonObject): ReportedError {
  const outer = toReportedError(error);
  const unwrapped = outer.message === undefined ? undefined : unwrapError(body, error['metadata'], outer.message);
  if (unwrapped === undefined) return outer;
  const { message = outer.message, code = outer.code, upstreamStatus: wrappedStatus } = unwrapped;
  const inner = Object.entries(unwrapped.upstreamBody === undefined ? {} : readRefusal(unwrapped.upstreamBody));
  return {
    ...outer,
    message,
    code,
    wrappedStatus,
    ...Object.fromEntries(inner.filter(([, value]) => value !== undefined)),
  };
}

/** Error types for MiniMax's codes, which come with status 200. Source: MiniMax API docs, "Error Codes". */
const minimaxTypes: ReadonlyMap<string, string> = new Map([
  ['1001', 'DEADLINE_EXCEEDED'],
  ['1002', 'rate_limit_error'],
  ['1004', 'authentication_error'],
  ['1008', 'billing_error'],
  ['1039', 'rate_limit_error'],
  ['1041', 'rate_limit_error'],
  ['2049', 'authentication_error'],
]);
/** Forbidden content, unreadable characters, wrong parameters. */
const minimaxRejections: ReadonlySet<string> = new Set(['1026', '1042', '2013']);

/** Reads the error in a body with an error status, where a top-level `message` or `detail` counts as well. */
export function readRefusal(body: JsonObject | undefined): ReportedError {
  return readReportedError(body) ?? readWrapped(body ?? {}, body ?? {});
}

/** Another route may have a larger context. */
export function isContextOverflow({ type, code, message }: Pick<ReportedError, 'type' | 'code' | 'message'>): boolean {
  if (codesMean('overflow', [type, code])) return true;
  // The message may reject the limit of output tokens instead of the prompt.
  return (
    messageMeans('overflow', message) && parseOutputLimit(message) === undefined && !messageMeans('limit', message)
  );
}

/** A number of tokens, such as 128000 or 128,000; not 128k or 1.5M. */
const countPattern = String.raw`(\d[\d,]*)(?![\d,]|\.\d| ?[km]\b)`;
/** How servers state the sizes of the context and of a prompt that is too long. */
const contextSizePattern = new RegExp(
  String.raw`(?:context size \(|maximum (?:context|prompt|model) length(?: is| of|:) |context length \(|batch size: |context window of |must have less than |must be <= |tokens allowed \(?|token limit: |configured limit of |exceeds the limit of |only supports up to |\d tokens > )${countPattern}`,
  'i',
);
/** "At least N" does not match: vLLM stops counting at the limit, and clients would drop a single token. */
const promptSizePattern = new RegExp(
  String.raw`(?:(?:request|input|prompt|length|count|requested tokens) \((?:length )?|resulted in |you requested (?:about |a total of )?|(?:request|prompt) (?:contains|has) |requested: |token count (?:of|is) |too long: |Given: )${countPattern}(?! (?:output|completion))`,
  'i',
);

/** Reads the sizes of the context and of the prompt, in tokens. Omits those that the error does not contain. */
export function parsePromptSizes({ contextSize, promptSize, message = '' }: ReportedError): Partial<PromptSizes> {
  const contextWindow = contextSize ?? parseFirstCount(contextSizePattern, message);
  const promptTokens = promptSize ?? parseFirstCount(promptSizePattern, message);
  return { ...(isCount(contextWindow) && { contextWindow }), ...(isCount(promptTokens) && { promptTokens }) };
}

function parseFirstCount(pattern: RegExp, text: string): number {
  return Number((pattern.exec(text)?.[1] ?? '').replaceAll(',', ''));
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

/** Quoted text, which may come from the client. An apostrophe inside a word is not a quotation mark. */
const quotedTextPattern = /"[^"]*"|`[^`]*`|“[^“”]*”|‘[^‘’]*’|「[^「」]*」|(?<!\w)'[^']*'(?!\w)/g;

/** Returns true if the upstream lacks the model, or the key has no access. The client is not at fault: its model is in the catalog. */
export function isUnknownModel({ code, message }: Pick<ReportedError, 'code' | 'message'>): boolean {
  return codesMean('model', [code]) || messageMeans('missing', message);
}

const clientObjectPattern =
  /\b(file|thread|previous[ _]response|resp|item|conv|conversation|container|cntr|vector[ _]?store|vs|skill|prompt|pmpt|cached ?contents?)(\b|[_-])/i;

/** Returns true for a 404 about one of the client's objects. Any other 404 is about the model or the path, which the gateway chose. */
export function isClientObjectMissing({ code, message }: Pick<ReportedError, 'code' | 'message'>): boolean {
  return clientObjectPattern.test(`${code ?? ''} ${message ?? ''}`);
}

/** Returns true if the content of the request was refused. Another key would get the same refusal, and usually so would another route. */
export function isModeration({ type, code, message }: ReportedError): boolean {
  return codesMean('policy', [type, code]) || messageMeans('policy', message);
}

/** Messages that repeat names chosen by the client: their wording proves nothing. */
const echoPattern = /not permitted|unrecognized|unknown (name|field|parameter)|unexpected/i;

/** Finds the meaning of a reported error; undefined if the status decides. */
export function findErrorMeaning(reported: ReportedError): ErrorMeaning | undefined {
  if (isContextOverflow(reported)) return 'overflow';
  if (parseOutputLimit(reported.message) !== undefined || messageMeans('limit', reported.message)) return 'limit';
  const serverMeaning = findServerMeaning(reported.message);
  if (serverMeaning !== undefined) return serverMeaning;
  const { type, code } = reported;
  const message = echoPattern.test(reported.message ?? '') ? '' : (reported.message ?? '').trim();
  const unquotedMessage = message.replace(quotedTextPattern, '');
  if (codesMean('key', [type, code]) || messageMeans('key', message)) return 'key';
  for (const meaning of ['capacity', 'timeout', 'throttled'] as const)
    if (codesMean(meaning, [type, code]) || messageMeans(meaning, unquotedMessage)) return meaning;
  return codesMean('model', [code]) || messageMeans('model', message) ? 'model' : undefined;
}

/** Credentials, accounts and addresses of the operator. */
const secretPattern =
  /\b(sk|rk|pk|xai|gsk|org|proj|acct)[-_][\w*.-]{4,}|\bAIza[\w-]{8,}|\bBearer\s+\S+|https?:\/\/\S+|\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b|(?<!\w)(?=[\da-f:]*::|([\da-f]{1,4}:){7})[\da-f:]{3,45}|[\w.+-]{1,64}@[\w-]{1,63}(\.[\w-]{1,63}){1,8}|\b([\w-]{1,63}\.){1,8}[a-z]{2,63}:\d{2,5}\b/gi;
const maxSearchedLength = 16_384; // bounds the time of the search; the rest of the message is dropped

/** @param knownSecrets keys in gateway.yaml, and the host */
export function removeSecrets(message: string, maxLength: number, knownSecrets: readonly string[] = []): string {
  // Truncated last, because a truncated secret would not match.
  return removeKnownSecrets(message.slice(0, maxSearchedLength), knownSecrets)
    .replace(secretPattern, '[…]')
    .slice(0, maxLength);
}

/** Removes only the known secrets, for codes and names that may look like secrets. */
export function removeKnownSecrets(message: string, knownSecrets: readonly string[]): string {
  return knownSecrets.reduce((remaining, secret) => remaining.replaceAll(secret, '[…]'), message);
}

/** Avoids words that make clients retry, such as "unavailable", "try again" and "server error". */
const keyRefusedMessage =
  "The provider of this model rejected this service's account. Your own key is valid. Contact the operator of this service.";

/** Creates the error for a rejected key of the operator, which the client must not mistake for its own. */
export function createKeyRefusedError(vendorMessage?: string): GatewayError {
  const cause = toCause(vendorMessage);
  return new GatewayError('upstream_account_rejected', keyRefusedMessage, { meaning: 'key', cause });
}

export function createThrottledError(retryAfterSeconds: number = 5, vendorMessage?: string): GatewayError {
  const message = 'All routes of this model are rate limited. Try again later.';
  const cause = toCause(vendorMessage);
  return new GatewayError('rate_limited', message, { retryAfter: retryAfterSeconds, meaning: 'throttled', cause });
}

/** Creates the error for a server that was started without a flag that the request needs. Only the operator can set the flag. */
export function createNotSetUpError(vendorMessage?: string): GatewayError {
  const message = 'The server of this model is not set up for this request. Contact the operator of this service.';
  return new GatewayError('not_supported', message, { meaning: 'setup', cause: toCause(vendorMessage) });
}

function toCause(vendorMessage: string | undefined): Error | undefined {
  return vendorMessage === undefined ? undefined : new Error(vendorMessage);
}

function toReportedError(error: JsonObject): ReportedError {
  const { message: nested } = error;
  // Mistral nests `detail` inside the message.
  const details = isJsonObject(error['details']) ? error['details'] : undefined;
  const { message, param } = readDetail(error['detail'] ?? (isJsonObject(nested) ? nested['detail'] : undefined));
  return {
    message: toText(nested) ?? message,
    type: toText(error['type']) ?? toText(error['status']),
    code: toText(error['code']) ?? toText(details?.['error_code']),
    param: toText(error['param']) ?? param,
    details,
    ...(Array.isArray(error['details']) && { reason: findErrorInfoReason(error['details']) }),
    retryAfter: parseRetryDelay(error),
    ...(typeof error['n_ctx'] === 'number' && { contextSize: error['n_ctx'] }),
    ...(typeof error['n_prompt_tokens'] === 'number' && { promptSize: error['n_prompt_tokens'] }),
  };
}

function findErrorInfoReason(details: readonly JsonValue[]): string | undefined {
  return toText(details.filter(isJsonObject).find(({ reason }) => reason !== undefined)?.['reason']);
}

/** Reads FastAPI's `detail`: a text, an object with a message, or a list of `{loc: ["body", "messages", 0], msg}`. */
function readDetail(detail: JsonValue | undefined): { message?: string | undefined; param?: string | undefined } {
  if (isJsonObject(detail))
    return { message: toText(detail['message']) ?? toText(detail['msg']) ?? toText(detail['error']) };
  if (!Array.isArray(detail)) return { message: toText(detail) };
  const mistakes = detail.filter(isJsonObject).map(({ loc, msg }) => ({ param: formatPath(loc), reason: toText(msg) }));
  const lines = mistakes.map(({ param, reason }) => [param, reason].filter((part) => part !== undefined).join(': '));
  const message = lines.filter((line) => line !== '').join('; ');
  return { message: toText(message), param: mistakes[0]?.param };
}

/** Formats `["body", "messages", 0, "role"]` as `messages[0].role`. */
function formatPath(loc: JsonValue | undefined): string | undefined {
  if (!Array.isArray(loc)) return undefined;
  const steps = loc[0] === 'body' ? loc.slice(1) : loc;
  return toText(
    steps
      .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
      .join('')
      .replace(/^\./, ''),
  );
}

function toText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
