import { type ErrorMeaning, GatewayError } from '#core/platform/errors/table.ts';
import { outputLimitOf } from './output-limit.ts';
import {
  contextWindowOf,
  isClientObjectMissing,
  isModeration,
  isUnknownModel,
  keyRefused,
  meaningOf,
  notSetUp,
  type ReportedError,
  throttled,
  withoutSecrets,
} from './upstream-error.ts';
import { upstreamReason } from './upstream-reason.ts';

/**
 * Types and codes of errors inside a 200 that a repeated request always gets: of Anthropic, OpenAI and Google, and statuses. Source for
 * those about images: openai 7.59, `ResponseError`.
 */
const permanentWords = new Set([
  'invalid_request_error',
  'request_too_large',
  'invalid_prompt',
  'INVALID_ARGUMENT',
  '400',
  '413',
  '415',
  '422',
  'invalid_image',
  'invalid_image_format',
  'invalid_base64_image',
  'invalid_image_url',
  'invalid_image_mode',
  'image_too_large',
  'image_too_small',
  'image_parse_error',
  'image_file_too_large',
  'image_file_not_found',
  'unsupported_image_media_type',
  'empty_image_file',
  'failed_to_download_image',
]);
const missingWords = new Set(['not_found_error', 'NOT_FOUND', '404']);
const accountWords = new Set(['permission_error', 'PERMISSION_DENIED', 'UNAUTHENTICATED', '401', '402', '403']);

/**
 * Meaning of an error inside a 200: the same as with its proper status. SDKs show its type like the class of a status, and do not repeat
 * the request. Undefined for a failure of the upstream.
 */
function meaningInside(reported: ReportedError): ErrorMeaning | undefined {
  const meaning = meaningOf(reported);
  if (meaning !== undefined) return meaning;
  const words = [reported.type, reported.code].filter((word) => word !== undefined);
  const isOneOf = (known: ReadonlySet<string>) => words.some((word) => known.has(word));
  if (words.some((word) => /^5\d\d$/.test(word))) return undefined;
  if (reported.isRejection === true || isModeration(reported) || isOneOf(permanentWords)) return 'rejected';
  if (isOneOf(accountWords)) return 'key';
  if (!isOneOf(missingWords)) return undefined;
  const isOfModel = isUnknownModel(reported) || /\bmodels?\b/i.test(reported.message ?? '');
  return isOfModel && !isClientObjectMissing(reported) ? 'model' : 'rejected';
}

function statusOf({ type, code }: ReportedError): number {
  if ([type, code].some((word) => missingWords.has(word ?? ''))) return 404;
  return [type, code].some((word) => word === 'request_too_large' || word === '413') ? 413 : 400;
}

/** Converts an error inside a 200: for the client, the upstream failed, unless the request was invalid. */
export function reportedFailure(reported: ReportedError | undefined): GatewayError {
  const message = withoutSecrets(reported?.message ?? upstreamReason('upstream.reason.no_message'), 500);
  const meaning = reported && meaningInside(reported);
  switch (meaning) {
    case 'overflow':
      // Clients shorten the conversation on this code; without it, they retry the same request.
      return new GatewayError('upstream_rejected', message, {
        upstream: { status: 400, code: 'context_length_exceeded', isContextOverflow: true },
        contextWindow: reported && contextWindowOf(reported),
        meaning,
      });
    case 'limit':
      return new GatewayError('upstream_rejected', message, {
        upstream: { status: 400 },
        outputLimit: outputLimitOf(reported?.message),
        meaning,
      });
    case 'unsupported':
      return new GatewayError('upstream_rejected', message, { upstream: { status: 400 }, meaning });
    case 'setup':
      return notSetUp(message);
    case 'key':
      return keyRefused(message);
    case 'throttled':
      return throttled(reported?.retryAfter, message);
    case 'rejected':
      return new GatewayError('upstream_rejected', message, {
        upstream: {
          status: reported === undefined ? 400 : statusOf(reported),
          type: reported?.type,
          code: reported?.code,
          isPolicyRefusal: reported !== undefined && isModeration(reported),
        },
        meaning,
      });
    default:
      return new GatewayError(
        failureCode(meaning),
        upstreamReason('upstream.reason.reported', { words: message }),
        meaning && { meaning },
      );
  }
}

/** Returns the code of a failure not caused by the request, by the meaning of the error. */
export function failureCode(meaning: ErrorMeaning | undefined): 'unavailable' | 'upstream_timeout' | 'upstream_failed' {
  if (meaning === 'capacity') return 'unavailable';
  return meaning === 'timeout' ? 'upstream_timeout' : 'upstream_failed';
}
