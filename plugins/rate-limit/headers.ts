import type { AllowanceState } from '#core/gateway/facts.ts';
import type { Dialect } from '#core/platform/errors/table.ts';

/**
 * The rate limit headers of each dialect: requests per period, and how many can be sent at once now. OpenAI states the
 * reset as a duration, Anthropic as a time.
 */
export function limitHeaders(
  dialect: Dialect,
  { limit, remaining, resetAfter }: AllowanceState,
  now: number,
): Record<string, string> {
  if (dialect === 'anthropic') {
    return {
      'anthropic-ratelimit-requests-limit': String(limit),
      'anthropic-ratelimit-requests-remaining': String(remaining),
      'anthropic-ratelimit-requests-reset': rfc3339(now + resetAfter * 1000),
    };
  }
  return {
    'x-ratelimit-limit-requests': String(limit),
    'x-ratelimit-remaining-requests': String(remaining),
    'x-ratelimit-reset-requests': formatDuration(resetAfter),
  };
}

/** A duration as OpenAI writes it: `6m0s`, `1s`, `250ms`. @param seconds rounded up, below one second to ms */
export function formatDuration(seconds: number): string {
  const milliseconds = Math.ceil(seconds * 1000);
  if (milliseconds > 0 && milliseconds < 1000) return `${milliseconds}ms`;
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  return `${hours > 0 ? `${hours}h` : ''}${whole >= 60 ? `${minutes}m` : ''}${rest}s`;
}

function rfc3339(time: number): string {
  return `${new Date(Math.ceil(time / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}
