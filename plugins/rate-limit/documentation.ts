import type { Dialect } from '#core/platform/errors/table.ts';
import type { DocumentedHeader, StageDocumentation } from '#core/gateway/host/api-documentation.ts';
import { limitHeaders } from './headers.ts';
import { limitsOfOthers, type RateLimitOptions } from './options.ts';

/** The configured limits, and the headers that report how much is left. Plans and keys may have others. */
export function describeLimits(options: RateLimitOptions): StageDocumentation {
  const { limit, period, burst, concurrent } = options;
  const others = limitsOfOthers(options.other, options);
  return {
    headers: (['openai', 'anthropic'] as const).flatMap((dialect) => describeHeaders(dialect, options)),
    limits: [
      { text: 'rate_limit.docs.calls', values: { limit, period, burst } },
      { text: 'rate_limit.docs.concurrent', values: { count: concurrent } },
      { text: 'rate_limit.docs.others', values: { limit: others.limit, period: others.period, burst: others.burst } },
    ],
  };
}

/** In the order in which `limitHeaders` writes them. */
const texts = ['limit', 'remaining', 'reset'];

/** Clients of Google get those of OpenAI. */
function describeHeaders(dialect: Dialect, { limit, period, burst }: RateLimitOptions): DocumentedHeader[] {
  const example = { limit, period, burst, remaining: Math.max(0, burst - 1), resetAfter: period / limit };
  const written = limitHeaders(dialect, example, Date.UTC(2026, 0, 1));
  return Object.entries(written).map(([name, value], index) => ({
    name,
    in: 'response',
    text: `rate_limit.docs.${texts[index]}`,
    example: value,
    dialect,
  }));
}
