import { type ErrorMeaning, GatewayError } from '#core/platform/errors/table.ts';
import { parseOutputLimit } from './output-limit.ts';
import {
  parsePromptSizes,
  isClientObjectMissing,
  isModeration,
  isUnknownModel,
  createKeyRefusedError,
  findErrorMeaning,
  createNotSetUpError,
  type ReportedError,
  createThrottledError,
  removeSecrets,
} from './upstream-error.ts';
import { upstreamReason } from './upstream-reason.ts';

/**
 * Types and codes of errors inside a 200 that a retry would only repeat: those of Anthropic, OpenAI and Google, and HTTP statuses. Source
 * of the codes about images: openai 7.59, `ResponseError`.
 */
const permanentCodes = new Set([
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
const missingCodes = new Set(['not_found_error', 'NOT_FOUND', '404']);
const accountCodes = new Set(['permission_error', 'PERMISSION_DENIED', 'UNAUTHENTICATED', '401', '402', '403']);

function findMeaning(reported: ReportedError): ErrorMeaning | undefined {
  const meaning = findErrorMeaning(reported);
  if (meaning !== undefined) return meaning;
  // SDKs treat the error as if it had the status of its type, and do not retry the request.
  const codes = [reported.type, reported.code].filter((code) => code !== undefined);
  const hasCodeIn = (set: ReadonlySet<string>) => codes.some((code) => set.has(code));
  if (codes.some((code) => /^5\d\d$/.test(code))) return undefined;
  if (reported.isRejection === true || isModeration(reported) || hasCodeIn(permanentCodes)) return 'rejected';
  if (hasCodeIn(accountCodes)) return 'key';
  if (!hasCodeIn(missingCodes)) return undefined;
  const isAboutModel = isUnknownModel(reported) || /\bmodels?\b/i.test(reported.message ?? '');
  return isAboutModel && !isClientObjectMissing(reported) ? 'model' : 'rejected';
}

function chooseStatus({ type, code }: ReportedError): number {
  const codes = [type, code];
  if (codes.some((word) => missingCodes.has(word ?? ''))) return 404;
  return codes.some((word) => word === 'request_too_large' || word === '413') ? 413 : 400;
}

/** Converts an error inside a 200. To the client, the upstream has failed, unless the request or the setup caused the error. */
export function createReportedFailure(reported: ReportedError | undefined): GatewayError {
  const message = removeSecrets(reported?.message ?? upstreamReason('upstream.reason.no_message'), 500);
  const meaning = reported && findMeaning(reported);
  switch (meaning) {
    case 'overflow':
      // On this code, clients shorten the conversation. Without it, they would retry the same request.
      return new GatewayError('upstream_rejected', message, {
        upstream: { status: 400, code: 'context_length_exceeded', isContextOverflow: true },
        ...(reported && parsePromptSizes(reported)),
        meaning,
      });
    case 'limit':
      return new GatewayError('upstream_rejected', message, {
        upstream: { status: 400 },
        outputLimit: parseOutputLimit(reported?.message),
        meaning,
      });
    case 'unsupported':
      return new GatewayError('upstream_rejected', message, { upstream: { status: 400 }, meaning });
    case 'setup':
      return createNotSetUpError(message);
    case 'key':
      return createKeyRefusedError(message);
    case 'throttled':
      return createThrottledError(reported?.retryAfter, message);
    case 'rejected':
      return new GatewayError('upstream_rejected', message, {
        upstream: {
          status: reported === undefined ? 400 : chooseStatus(reported),
          type: reported?.type,
          code: reported?.code,
          isPolicyRefusal: reported !== undefined && isModeration(reported),
        },
        meaning,
      });
    default:
      return new GatewayError(
        chooseFailureCode(meaning),
        upstreamReason('upstream.reason.reported', { words: message }),
        meaning && { meaning },
      );
  }
}

/** Returns the code for a failure that was not caused by the request. */
export function chooseFailureCode(
  meaning: ErrorMeaning | undefined,
): 'unavailable' | 'upstream_timeout' | 'upstream_failed' {
  if (meaning === 'capacity') return 'unavailable';
  return meaning === 'timeout' ? 'upstream_timeout' : 'upstream_failed';
}
