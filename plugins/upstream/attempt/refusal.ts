import type { FaultKind } from '#core/gateway/facts.ts';
import { findClosureRule } from '#core/gateway/model-call/closure-rules.ts';
import { parseOutputLimit } from '#core/gateway/model-call/output-limit.ts';
import { chooseFailureCode } from '#core/gateway/model-call/reported-failure.ts';
import { maxRetryDelaySeconds } from '#core/gateway/model-call/retry-after.ts';
import {
  parsePromptSizes,
  isClientObjectMissing,
  isContextOverflow,
  isModeration,
  isUnknownModel,
  createKeyRefusedError,
  findErrorMeaning,
  createNotSetUpError,
  readRefusal,
  type ReportedError,
  createThrottledError,
  removeKnownSecrets,
  removeSecrets,
} from '#core/gateway/model-call/upstream-error.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { findServerMeaning } from '#core/gateway/model-call/upstream-words.ts';
import { type ErrorMeaning, GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import { Fault, faultKindOf } from './fault.ts';

const clientStatuses = new Set([400, 404, 413, 415, 422]);
const overloadStatuses = new Set([503, 529]);
const timeoutStatuses = new Set([408, 504, 524]);
const requestConflictCodes = new Set([
  'invalid_request_error',
  'conflict_error',
  'conversation_locked',
  'thread_already_continued',
  'thread_continue_in_flight',
]);
const keyStatuses = new Set([401, 402, 403]);

interface RefusalHeaders {
  readonly 'retry-after'?: string | string[] | undefined;
  readonly 'retry-after-ms'?: string | string[] | undefined;
  readonly date?: string | string[] | undefined;
}

/** Converts a 3xx, 4xx or 5xx response into a fault. `body` has its first bytes; `now` is epoch ms. */
export function parseRefusal(
  status: number,
  headers: RefusalHeaders,
  body: Buffer,
  now: number,
  secrets: readonly string[] = [],
  vendor?: string,
): Fault {
  const object = parseErrorBody(body);
  const reported = readRefusal(object);
  const text = status >= 500 && object === undefined ? readShortText(body) : undefined;
  const closing = findClosureRule(reported, vendor);
  // A gateway that answers every upstream error with 500 or 502 may give the original status in the message.
  const meantStatus = mayBeClientError(status) ? (reported.wrappedStatus ?? status) : status;
  const kind =
    closing === undefined
      ? (findServerMeaning(text, vendor) ??
        classifyRefusal(meantStatus, reported, object === undefined && isHtml(body)))
      : 'key';
  const retryAfter = readRetryAfter(headers, now) ?? reported.retryAfter;
  const message = reported.message && removeSecrets(reported.message, 300, secrets);
  switch (kind) {
    case 'throttled':
      return new Fault('throttled', createThrottledError(retryAfter, message), { status });
    case 'key':
      // The operator's credential is at fault. The client must not think that the error is about its own key.
      return new Fault('key', createKeyRefusedError(message), { status, closing });
    case 'setup':
      return new Fault('setup', createNotSetUpError(message), { status });
    case 'client':
    case 'overflow':
    case 'unsupported':
      return new Fault(kind, createClientError(kind, meantStatus, reported, secrets), { status });
    case 'no_model':
      return new Fault('no_model', new GatewayError('upstream_failed', describeStatus(status)), {
        status,
        isUnclear404: status === 404 && !isUnknownModel(reported) && !/\bmodels?\b/i.test(reported.message ?? ''),
      });
    default:
      return createStatusFault(status, reported, retryAfter);
  }
}

/** @param isPage true for HTML, which is sent by a proxy or for a wrong base URL, never by the API */
function classifyRefusal(status: number, reported: ReportedError, isPage: boolean): FaultKind {
  const meaning = findErrorMeaning(reported);
  // Some vendors use 429 for a key without credit. Waiting does not help then.
  if (status === 429) return meaning === 'key' ? 'key' : 'throttled';
  const isKeyStatus = keyStatuses.has(status);
  if (mayBeClientError(status) && !isPage && isAboutRequest(meaning)) return faultKindOf(meaning);
  if (isPage || !(isKeyStatus || clientStatuses.has(status) || isConflict(status, reported))) return 'route';
  if (status === 404 || status === 403 ? isUnknownModel(reported) : meaning === 'model') return 'no_model';
  // For example, a 401 about a prompt that is too long is not about the key.
  if (meaning !== undefined) return faultKindOf(meaning);
  if (status === 404) return isClientObjectMissing(reported) ? 'client' : 'no_model';
  if (status === 413) return 'overflow';
  return isKeyStatus && !(status === 403 && isModeration(reported)) ? 'key' : 'client';
}

function mayBeClientError(status: number): boolean {
  // Some servers also reject requests with a 5xx. Overload and timeout statuses mean that the upstream is down.
  return status >= 500 && !overloadStatuses.has(status) && !timeoutStatuses.has(status);
}

function isAboutRequest(meaning: ErrorMeaning | undefined): meaning is ErrorMeaning {
  return meaning === 'overflow' || meaning === 'limit' || meaning === 'unsupported' || meaning === 'setup';
}

function isConflict(status: number, { type, code, param }: ReportedError): boolean {
  // Other 409s are about the upstream's state.
  return status === 409 && (param !== undefined || [type, code].some((word) => requestConflictCodes.has(word ?? '')));
}

function createStatusFault(status: number, reported: ReportedError, retryAfter: number | undefined): Fault {
  const code = chooseFailureCode(findUnavailability(status) ?? findErrorMeaning(reported));
  const error = new GatewayError(code, describeStatus(status), retryAfter === undefined ? {} : { retryAfter });
  // The request may cause any other status, and one conversation must not open the breaker for the others.
  const isUnclear404 = status === 404; // always an HTML page here; other 404s are about the model
  return new Fault('route', error, { status, mayBeCausedByRequest: !overloadStatuses.has(status), isUnclear404 });
}

function findUnavailability(status: number): ErrorMeaning | undefined {
  if (overloadStatuses.has(status)) return 'capacity';
  return timeoutStatuses.has(status) ? 'timeout' : undefined;
}

function describeStatus(status: number): string {
  if (overloadStatuses.has(status)) return upstreamReason('upstream.reason.overloaded', { status });
  return upstreamReason('upstream.reason.status', { status });
}

function readShortText(body: Buffer): string | undefined {
  // A short body that is not JSON is the server's error message.
  return body.length <= 256 ? body.toString().trim() : undefined;
}

function isHtml(body: Buffer): boolean {
  return body.subarray(0, 256).toString().trimStart().startsWith('<');
}

function createClientError(
  kind: 'client' | 'overflow' | 'unsupported',
  status: number,
  reported: ReportedError,
  secrets: readonly string[],
): GatewayError {
  const redact = (word: string | undefined) => word && removeKnownSecrets(word, secrets);
  const message = reported.message ?? upstreamReason('upstream.reason.rejected', { status });
  const isOverflow = isContextOverflow(reported);
  // In a 5xx that the request caused, type and code are misleading as well.
  const isServerStatus = status >= 500;
  return new GatewayError('upstream_rejected', removeSecrets(message, 4_000, secrets), {
    upstream: {
      // Clients expect 400 for a prompt that is too long, and take a 404 to be about the model.
      status: isServerStatus || (kind !== 'client' && (status === 404 || status === 422)) ? 400 : status,
      type: isServerStatus ? undefined : redact(reported.type),
      code: isServerStatus ? undefined : redact(reported.code),
      isContextOverflow: isOverflow,
      isPolicyRefusal: isModeration(reported),
    },
    outputLimit: parseOutputLimit(reported.message),
    ...(isOverflow && parsePromptSizes(reported)),
    ...(reported.param !== undefined && { param: removeKnownSecrets(reported.param, secrets) }),
    ...(reported.details !== undefined && { anthropic: redactDetails(reported.details, secrets) }),
  });
}

function redactDetails(details: JsonObject, secrets: readonly string[]): JsonObject {
  return JSON.parse(JSON.stringify(details), (_name, value: unknown) =>
    typeof value === 'string' ? removeSecrets(value, 4_000, secrets) : value,
  ) as JsonObject;
}

function parseErrorBody(body: Buffer): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(body.toString());
    // Gemini's OpenAI endpoint wraps its errors in a list.
    const value: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads the seconds to wait, at most an hour; undefined if missing or malformed. Formats: RFC 9110 §10.2.3 and `retry-after-ms`.
 *
 * @param now epoch ms; used if the response has no `Date`
 */
export function readRetryAfter(headers: RefusalHeaders, now: number): number | undefined {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (isFiniteWait(milliseconds)) return Math.min(milliseconds / 1000, maxRetryDelaySeconds);
  const value = headers['retry-after']?.toString();
  if (value === undefined) return undefined;
  const seconds = Number(value);
  const wait = Number.isNaN(seconds) ? (Date.parse(value) - readSentAt(headers, now)) / 1000 : seconds;
  return isFiniteWait(wait) ? Math.min(wait, maxRetryDelaySeconds) : undefined;
}

function readSentAt({ date }: RefusalHeaders, now: number): number {
  const time = Date.parse(date?.toString() ?? '');
  return Number.isNaN(time) ? now : time;
}

function isFiniteWait(value: number): boolean {
  // After an infinite wait, the key would never be used again.
  return value > 0 && Number.isFinite(value);
}
