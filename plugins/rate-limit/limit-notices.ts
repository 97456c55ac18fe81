import { plansSection } from '#core/business/accounts/plans.ts';
import type { SectionValues } from '#core/config/section.ts';
import { type CallLimits, resolveCallLimits, type RateLimitOptions } from './options.ts';

/** Shorter periods are not checked: they express a rate, and even a larger burst is available again after seconds. */
const minLongPeriodSeconds = 60;
const maxRequestSeconds = 3_600;

export function findLimitNotices(options: RateLimitOptions, sections: SectionValues): string[] {
  const plans = sections.get(plansSection).filter(({ limits }) => limits !== undefined);
  return [
    ...findContradictions('rate-limit', resolveCallLimits(options, undefined, undefined)),
    ...plans.flatMap(({ days, limits }) =>
      findContradictions(
        `the limits of the plan of ${days === 1 ? '1 day' : `${days} days`}`,
        resolveCallLimits(options, undefined, limits),
      ),
    ),
  ];
}

function findContradictions(origin: string, { limit, period, burst, concurrent }: CallLimits): string[] {
  const maxRequestsPerHour = Math.floor(burst + (limit * maxRequestSeconds) / period);
  return [
    ...(burst > limit && period >= minLongPeriodSeconds
      ? [`${origin}: after a pause, the burst allows ${burst} requests at once, but limit is ${limit} in ${period} s`]
      : []),
    ...(concurrent > maxRequestsPerHour
      ? [
          `${origin}: concurrent is ${concurrent}, and limit and burst let only ${maxRequestsPerHour} requests begin in an hour`,
        ]
      : []),
  ];
}
