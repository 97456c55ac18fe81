import { isJsonObject, type JsonObject } from '#core/platform/json.ts';

/** In seconds. An upstream may request days, but a single response must not disable a key for that long. */
export const maxRetryDelaySeconds = 3_600;

/** Matches "Please try again in 6m0s" (OpenAI, Groq), "in 20ms", "Please retry after 26 seconds" (Azure), "retry in 34.07s" (Gemini). */
const delayPattern =
  /\b(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?\s?(?:ms|milliseconds?|s|seconds?|m|minutes?|h|hours?)\b\s?|\d+(?:\.\d+)?[hm](?=\d))+)/i;
const delayParts = /(\d+(?:\.\d+)?)\s?(ms|mill|s|m|h)/gi;
const unitSeconds: Readonly<Record<string, number>> = { ms: 0.001, mill: 0.001, s: 1, m: 60, h: 3_600 };

/**
 * Reads the retry delay from an error body, for upstreams that send no `retry-after`.
 *
 * @param error `{message, details}`; for details see https://cloud.google.com/apis/design/errors#error_info
 * @returns seconds, at most an hour; undefined if the body contains no delay
 */
export function parseRetryDelay(error: JsonObject): number | undefined {
  const seconds = parseRetryInfo(error['details']) ?? parseDelayText(error['message']);
  return seconds === undefined || !(seconds > 0) ? undefined : Math.min(seconds, maxRetryDelaySeconds);
}

function parseRetryInfo(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  // `{"@type": "…/google.rpc.RetryInfo", "retryDelay": "34.074824224s"}`
  const delay = details.filter(isJsonObject).find((detail) => 'retryDelay' in detail)?.['retryDelay'];
  return typeof delay === 'string' && /^\d+(\.\d+)?s$/.test(delay) ? Number(delay.slice(0, -1)) : undefined;
}

function parseDelayText(message: unknown): number | undefined {
  const delay = typeof message === 'string' ? delayPattern.exec(message)?.[1] : undefined;
  return delay
    ?.matchAll(delayParts)
    .reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitSeconds[unit.toLowerCase()] ?? 0), 0);
}
