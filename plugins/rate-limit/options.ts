import type { RateLimits } from '#core/gateway/facts.ts';
import { integer, number, object, type Infer, type JsonSchema } from '#core/platform/schema.ts';
import type { Limits } from '#core/platform/shared/shared.ts';

const maxCount = 1_000_000_000;

function createAllowanceMembers(limit: number, burst: number) {
  return {
    limit: integer({ minimum: 1, maximum: maxCount, default: limit }, 'Requests per period.'),
    period: number({ minimum: 1, maximum: 86_400, default: 60 }, 'Seconds.'),
    burst: integer(
      { minimum: 1, maximum: maxCount, default: burst },
      'Maximum burst: requests that may be sent at once after a pause.',
    ),
  } as const satisfies Record<string, JsonSchema>;
}

export const optionsSchema = object({
  ...createAllowanceMembers(60, 20),
  concurrent: integer({ minimum: 1, maximum: 1_000_000, default: 8 }, 'Requests in flight at the same time.'),
  other: object(
    { default: {} },
    'The allowance for requests other than model calls: lists, the key, token counts, stored responses. Never less than that for model calls.',
    createAllowanceMembers(600, 100),
  ),
});

export type RateLimitOptions = Infer<typeof optionsSchema>;

export interface CallLimits extends Limits {
  readonly concurrent: number;
}

export function resolveCallLimits(
  options: RateLimitOptions,
  keyLimits: RateLimits | undefined,
  planLimits: RateLimits | undefined,
): CallLimits {
  const { limit, period, burst, concurrent } = options;
  return {
    limit: keyLimits?.limit ?? planLimits?.limit ?? limit,
    period: keyLimits?.period ?? planLimits?.period ?? period,
    burst: keyLimits?.burst ?? planLimits?.burst ?? burst,
    concurrent: keyLimits?.concurrent ?? planLimits?.concurrent ?? concurrent,
  };
}

/** Never stricter than the limits of model calls, so that a client can count the tokens of every call. */
export function resolveOtherLimits(configured: Limits, calls: Limits): Limits {
  const isNarrower = configured.limit / configured.period < calls.limit / calls.period;
  const { limit, period } = isNarrower ? calls : configured;
  return { limit, period, burst: Math.max(configured.burst, calls.burst) };
}
