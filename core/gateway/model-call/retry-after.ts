import { isJsonObject, type JsonObject } from '#core/platform/json.ts';

/** Seconds. An upstream may ask for days, but one reply must not make a key unavailable that long. */
export const maxRetryDelay = 3_600;

/** "Please try again in 6m0s" (OpenAI, Groq), "in 20ms", "Please retry after 26 seconds" (Azure), "retry in 34.07s" (Gemini). */
const waitWords =
  /\b(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?\s?(?:ms|milliseconds?|s|seconds?|m|minutes?|h|hours?)\b\s?|\d+(?:\.\d+)?[hm](?=\d))+)/i;
const parts = /(\d+(?:\.\d+)?)\s?(ms|mill|s|m|h)/gi;
const secondsIn: Readonly<Record<string, number>> = { ms: 0.001, mill: 0.001, s: 1, m: 60, h: 3_600 };

/**
 * Reads the retry delay from an error body, for upstreams that send no `retry-after`.
 *
 * @param error `{message, details}`; details as in https://cloud.google.com/apis/design/errors#error_info
 * @returns seconds, at most an hour; undefined without a delay
 */
export function parseRetryDelay(error: JsonObject): number | undefined {
  const wait = delayIn(error['details']) ?? waitIn(error['message']);
  return wait === undefined || !(wait > 0) ? undefined : Math.min(wait, maxRetryDelay);
}

/** google.rpc.RetryInfo: `{"@type": "…/google.rpc.RetryInfo", "retryDelay": "34.074824224s"}` */
function delayIn(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const delay = details.filter(isJsonObject).find((detail) => 'retryDelay' in detail)?.['retryDelay'];
  return typeof delay === 'string' && /^\d+(\.\d+)?s$/.test(delay) ? Number(delay.slice(0, -1)) : undefined;
}

function waitIn(message: unknown): number | undefined {
  const words = typeof message === 'string' ? waitWords.exec(message)?.[1] : undefined;
  return words
    ?.matchAll(parts)
    .reduce((sum, [, count, unit = '']) => sum + Number(count) * (secondsIn[unit.toLowerCase()] ?? 0), 0);
}
