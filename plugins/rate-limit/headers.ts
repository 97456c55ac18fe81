import type { AllowanceState } from '#core/gateway/facts.ts';
import type { DocumentedHeader, StageDocumentation } from '#core/gateway/host/api-documentation.ts';
import { type Dialect, dialects } from '#core/platform/errors/dialects.ts';
import { resolveOtherLimits, type RateLimitOptions } from './options.ts';

export function createLimitHeaders(
  dialect: Dialect,
  { limit, remaining, resetAfter }: AllowanceState,
  now: number,
): Record<string, string> {
  const { limitHeaders, resetFormat } = dialects[dialect];
  const [limitName, remainingName, resetName] = limitHeaders;
  return {
    [limitName]: String(limit),
    [remainingName]: String(remaining),
    [resetName]: resetFormat === 'time' ? formatRfc3339(now + resetAfter * 1000) : formatDuration(resetAfter),
  };
}

/** Formats as OpenAI does: `6m0s`, `1s`, `250ms`. Rounds up to a full second, or to a millisecond below one second. */
export function formatDuration(seconds: number): string {
  const milliseconds = Math.ceil(seconds * 1000);
  if (milliseconds > 0 && milliseconds < 1000) return `${milliseconds}ms`;
  const wholeSeconds = Math.ceil(seconds);
  const hours = Math.floor(wholeSeconds / 3600);
  const minutes = Math.floor((wholeSeconds % 3600) / 60);
  const remainingSeconds = wholeSeconds % 60;
  return `${hours > 0 ? `${hours}h` : ''}${wholeSeconds >= 60 ? `${minutes}m` : ''}${remainingSeconds}s`;
}

function formatRfc3339(time: number): string {
  return `${new Date(Math.ceil(time / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}

/** Plans and keys may have other limits. */
export function describeLimits(options: RateLimitOptions): StageDocumentation {
  const { limit, period, burst, concurrent } = options;
  const otherLimits = resolveOtherLimits(options.other, options);
  return {
    headers: (['openai', 'anthropic'] as const).flatMap((dialect) => describeHeaders(dialect, options)),
    limits: [
      { text: 'rate_limit.docs.calls', values: { limit, period, burst } },
      { text: 'rate_limit.docs.concurrent', values: { count: concurrent } },
      {
        text: 'rate_limit.docs.others',
        values: { limit: otherLimits.limit, period: otherLimits.period, burst: otherLimits.burst },
      },
    ],
  };
}

const headerTexts = ['limit', 'remaining', 'reset']; // suffixes of text keys, in the order of the headers

/** Google's clients get OpenAI's headers. */
function describeHeaders(dialect: Dialect, { limit, period, burst }: RateLimitOptions): DocumentedHeader[] {
  const example = { limit, period, burst, remaining: Math.max(0, burst - 1), resetAfter: period / limit };
  const headers = createLimitHeaders(dialect, example, Date.UTC(2026, 0, 1));
  return Object.entries(headers).map(([name, value], index) => ({
    name,
    in: 'response',
    text: `rate_limit.docs.${headerTexts[index]}`,
    example: value,
    dialect,
  }));
}
