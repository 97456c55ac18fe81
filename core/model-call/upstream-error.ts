import { type ErrorMeaning, GatewayError } from '../errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { statedWait } from './retry-after.ts';

/** What an upstream says about an error, in whichever of the many shapes. */
export interface ReportedError {
  readonly message: string | undefined;
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
  /** Seconds to wait, as words or details say. */
  readonly retryAfter?: number | undefined;
}

/**
 * Reads `{error: {message, type, code, param}}`, `{error: "text"}`, `{object: "error", message}` and `{base_resp}`.
 * Undefined when the value reports no error, as far as the body shows without a status.
 */
export function readReportedError(body: JsonValue | undefined): ReportedError | undefined {
  if (!isJsonObject(body)) return undefined;
  const { error } = body;
  if (isJsonObject(error)) return describe(error);
  if (typeof error === 'string' && error !== '') return { ...describe(body), message: error };
  if (body['object'] === 'error') return describe(body);
  const status = isJsonObject(body['base_resp']) ? body['base_resp'] : undefined;
  if (status === undefined || status['status_code'] === 0 || status['status_code'] === undefined) return undefined;
  return { message: text(status['status_msg']), type: undefined, code: text(status['status_code']), param: undefined };
}

/** The same for a body that came with an error status: then a bare `message` or `detail` is one too. */
export function readRefusal(body: JsonObject | undefined): ReportedError {
  return readReportedError(body) ?? describe(body ?? {});
}

/** How vendors say that a prompt is longer than the model's context. */
const overflowWords =
  /prompt is too long|maximum context length|context (length|window)|input token count.*exceed|too many (input )?tokens|range of input length/i;

/** True when the prompt does not fit: another route may have more room, the same one never will. */
export function isContextOverflow({ code, message }: Pick<ReportedError, 'code' | 'message'>): boolean {
  return code === 'context_length_exceeded' || overflowWords.test(message ?? '');
}

/** How vendors and their resellers say that they have no room, whatever status they say it with. */
const capacityWords =
  /\b(currently|temporarily|is) (overloaded|unavailable|busy|at capacity|out of capacity)|\boverloaded_error|server_is_overloaded|\bslow_down\b|no (available|healthy) (channel|account|provider|upstream|server|capacity)|(insufficient|not enough|exceeded) capacity|capacity (exceeded|reached)|负载(已饱和|过高|较高)|(服务|系统|服务器|模型|当前)[^，。]{0,8}(繁忙|过载)/i;
/** The same where they are all that is said: further on in a sentence they may be the client's own. */
const plainCapacityWords =
  /^(the |our )?(engine|model|server|service|system)?s?( is| are)?( currently| temporarily| too)* ?(overloaded|busy|at capacity)\b|^we( are|['’]re) (currently )?experiencing high (demand|load|traffic)/i;
const capacityCodes = /overloaded|\bslow_down\b/i;

/** What stands in quotation marks may be the client's own words. An apostrophe within a word is not one. */
const quoted = /"[^"]*"|`[^`]*`|“[^”]*”|‘[^’]*’|「[^」]*」|(?<!\w)'[^']*'(?!\w)/g;

/** True for a refusal that says nothing about the request: the same request would be served with more room, or elsewhere. */
function isOutOfCapacity({ type, code, message }: Pick<ReportedError, 'type' | 'code' | 'message'>): boolean {
  if (isContextOverflow({ code, message })) return false;
  if ([type, code].some((word) => capacityCodes.test(word ?? '') || capacityWords.test(word ?? ''))) return true;
  return [capacityWords, plainCapacityWords].some((words) => words.test(message ?? ''));
}

/** How vendors say that they do not have the model. The client's model is ours: it exists. */
const modelWords =
  /\bmodel\b.*(not found|not exist|not supported|not available|no access|not have access)|no such model|have access to model/i;
/** The same where it comes as a 400, whose words may be about parameters as well. A full stop may be part of a name. */
const certainModelWords =
  /^[^.]{0,20}\bmodel\b([^.]|\.(?=\S)){0,100}(not exist|not found)|no such model|is not a valid model|model identifier is invalid/i;
const modelCodes = new Set(['model_not_found', 'model_not_supported', 'unknown_model']);

/** True when the upstream does not have the model, or does not give it to our key. */
export function isUnknownModel({ code, message }: Pick<ReportedError, 'code' | 'message'>): boolean {
  return modelCodes.has(code ?? '') || modelWords.test(message ?? '');
}

/** What a request may name that belongs to the client, and that an upstream may not have. */
const clientThings =
  /\b(file|previous[ _]response|resp|item|conv|conversation|container|cntr|vector[ _]?store|vs|skill|prompt|pmpt|cached ?contents?)(\b|[_-])/i;

/** True for a 404 about something of the client's; any other is about the model or the path, and those are ours. */
export function isClientThingMissing({ code, message }: Pick<ReportedError, 'code' | 'message'>): boolean {
  return clientThings.test(`${code ?? ''} ${message ?? ''}`);
}

/** How vendors say that our credential is wrong or our money is spent, where the status does not say so. */
const keyCodes = new Set([
  'authentication_error',
  'billing_error',
  'invalid_api_key',
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'account_deactivated',
]);
const keyWords =
  /^(your )?(api key (is )?(not valid|not found|invalid|expired)|(invalid|incorrect) (x-)?api[- ]key|credit balance is too low|(insufficient|not enough|out of) (balance|credits?|quota|funds))/i;

/** How they say that there were too many requests, with whatever status. */
const throttleCodes = new Set([
  'rate_limit_error',
  'rate_limit_exceeded',
  'RESOURCE_EXHAUSTED',
  'rateLimitExceeded',
  '429',
]);
const throttleWords =
  /^(you have )?(rate limit (exceeded|reached)|too many (concurrent )?requests|request was rejected due to rate|concurrency limit (exceeded|reached)|throttlingexception|resource has been exhausted|quota exceeded for (quota )?metric)|请求(过于|太)?频繁|(速率|频率|并发)[^，。]{0,6}(限制|超限|上限)/i;

/** How they say within an answer, by Google's words or by a status, that they are out of service or were too slow. */
const outageCodes = new Set(['UNAVAILABLE', '503', '529']);
const timeoutCodes = new Set(['DEADLINE_EXCEEDED', '504']);
const timeoutWords = /^(upstream|gateway) (request )?(timeout|timed out)/i;

/** How vendors, and resellers of several, say that what the client has written is not allowed. */
const moderationCodes = new Set([
  'content_policy_violation',
  'content_filter',
  'moderation_blocked',
  'data_inspection_failed',
]);
const moderationWords =
  /\b(input|prompt|request|message|content|image|text)s? (was|were|is|are|has been|have been) (flagged|blocked|rejected) (for|by|as|because|due)\b|requires moderation|\bcontent (policy|filter|moderation)\b/i;

/** True when the content of the request was refused: another key, and mostly another route, says the same. */
export function isModeration({ type, code, message }: ReportedError): boolean {
  return [type, code].some((word) => moderationCodes.has(word ?? '')) || moderationWords.test(message ?? '');
}

/** Refusals that repeat names which the client has chosen: words in them say nothing. */
const echo = /not permitted|unrecognized|unknown (name|field|parameter)|unexpected/i;

/** What an error is about, as its words say. Undefined when they say none of these: then the status decides. */
export function meaningOf(said: ReportedError): ErrorMeaning | undefined {
  if (isContextOverflow(said)) return 'overflow';
  const codes = [said.type, said.code].filter((code) => code !== undefined);
  const words = echo.test(said.message ?? '') ? '' : (said.message ?? '').trim();
  const own = words.replace(quoted, '');
  if (codes.some((code) => keyCodes.has(code)) || keyWords.test(words)) return 'key';
  if (codes.some((code) => outageCodes.has(code)) || isOutOfCapacity({ ...said, message: own })) return 'capacity';
  if (codes.some((code) => timeoutCodes.has(code)) || timeoutWords.test(own)) return 'timeout';
  if (codes.some((code) => throttleCodes.has(code)) || throttleWords.test(own)) return 'throttled';
  return modelCodes.has(said.code ?? '') || certainModelWords.test(words) ? 'model' : undefined;
}

/** What may stand in a vendor's words and is nobody's business: credentials, accounts and addresses of the operator. */
const secrets =
  /\b(sk|rk|pk|xai|gsk|org|proj|acct)[-_][\w*.-]{4,}|\bAIza[\w-]{8,}|\bBearer\s+\S+|https?:\/\/\S+|\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b|[\w.+-]{1,64}@[\w-]{1,63}(\.[\w-]{1,63}){1,8}|\b([\w-]{1,63}\.){1,8}[a-z]{2,63}:\d{2,5}\b/gi;
/** Longer words of a vendor are cut first: redaction must take bounded time. */
const longestWords = 16_384;

/**
 * A vendor's words as a client may see them, cut to so many characters.
 *
 * @param own what is secret whatever it looks like: the keys that gateway.yaml has, and the host
 */
export function withoutSecrets(message: string, length: number, own: readonly string[] = []): string {
  // A secret that is cut in half is not found any more.
  return withoutOwn(message.slice(0, longestWords), own).replace(secrets, '[…]').slice(0, length);
}

/** The same for words that are no sentences: nothing that only looks like a secret is taken away. */
export function withoutOwn(words: string, own: readonly string[]): string {
  return own.reduce((rest, secret) => rest.replaceAll(secret, '[…]'), words);
}

/** Our credential was refused: the client must never take that for its own. @param words for the operator */
export function keyRefused(words?: string): GatewayError {
  return new GatewayError('unavailable', 'The model is temporarily unavailable. The operator has been notified.', {
    retryAfter: 30,
    meaning: 'key',
    cause: words === undefined ? undefined : new Error(words),
  });
}

/** @param retryAfter seconds; 5 where the upstream has not said */
export function throttled(retryAfter: number = 5): GatewayError {
  return new GatewayError('rate_limited', 'All routes of this model are over their rate limit. Retry later.', {
    retryAfter,
    meaning: 'throttled',
  });
}

/** An error that came inside a 200: as far as the client is concerned, the upstream has failed. */
export function reportedFailure(reported: ReportedError | undefined): GatewayError {
  const said = withoutSecrets(reported?.message ?? 'no message', 500);
  const meaning = reported && meaningOf(reported);
  switch (meaning) {
    case 'overflow':
      // Clients shorten the conversation when they see these words, and otherwise repeat it in vain.
      return new GatewayError('upstream_rejected', said, {
        upstream: { status: 400, code: 'context_length_exceeded', isContextOverflow: true },
        meaning,
      });
    case 'key':
      return keyRefused(said);
    case 'throttled':
      return throttled(reported?.retryAfter);
    default:
      return new GatewayError(failureCode(meaning), `The upstream reported an error: ${said}`, meaning && { meaning });
  }
}

/** What a failure that is not the request's is called, by what the upstream's words mean. */
export function failureCode(meaning: ErrorMeaning | undefined): 'unavailable' | 'upstream_timeout' | 'upstream_failed' {
  if (meaning === 'capacity') return 'unavailable';
  return meaning === 'timeout' ? 'upstream_timeout' : 'upstream_failed';
}

function describe(error: JsonObject): ReportedError {
  const { message, param } = describeDetail(error['detail']);
  return {
    message: text(error['message']) ?? message,
    type: text(error['type']) ?? text(error['status']),
    code: text(error['code']),
    param: text(error['param']) ?? param,
    retryAfter: statedWait(error),
  };
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
