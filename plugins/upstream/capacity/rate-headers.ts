import type { SlotResult } from '#core/platform/shared/slots.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Pairs of headers with the remaining requests and when they reset: OpenAI and compatible vendors, Anthropic, other vendors, and an IETF
 * draft.
 */
const headerPairs = [
  ['x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'],
  ['anthropic-ratelimit-requests-remaining', 'anthropic-ratelimit-requests-reset'],
  ['x-ratelimit-remaining', 'x-ratelimit-reset'],
  ['ratelimit-remaining', 'ratelimit-reset'],
] as const;

const secondsPerUnit: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600 };

/** Reads how many requests the upstream still allows; undefined if the headers are missing or in an unknown form. `now` is epoch ms. */
export function readRateHeaders(headers: Headers, now: number): SlotResult['remaining'] {
  for (const [remainingName, resetName] of headerPairs) {
    const requests = headers[remainingName]?.toString();
    if (requests === undefined || !/^\d{1,12}$/.test(requests)) continue;
    const validForMs = readReset(headers[resetName]?.toString() ?? '', now);
    if (validForMs !== undefined) return { requests: Number(requests), validForMs };
  }
  return undefined;
}

/**
 * Converts the reset to ms: `6m0s` or `120ms` (OpenAI, Groq), an RFC 3339 time (Anthropic), seconds, or a time in seconds or ms since the
 * epoch.
 */
function readReset(text: string, now: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) {
    const value = Number(text);
    if (value < 1e9) return value * 1000;
    return Math.max(0, (value < 1e11 ? value * 1000 : value) - now);
  }
  if (/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text))
    return text
      .matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)
      .reduce((sum, [, count, unit = '']) => sum + Number(count) * (secondsPerUnit[unit] ?? 0) * 1000, 0);
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}
