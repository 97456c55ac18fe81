import { plansSection } from '#core/business/accounts/plans.ts';
import type { SectionValues } from '#core/config/section.ts';
import { type CallLimits, limitsOfCalls, type RateLimitOptions } from './options.ts';

/** Shorter periods are not checked, because they express a rate and a larger burst needs only a pause of seconds. */
const longPeriodSeconds = 60;
const maxRequestSeconds = 3_600;

/** Finds contradictory limits of the stage and of plans. */
export function limitNotices(options: RateLimitOptions, all: SectionValues): string[] {
  const plans = all.get(plansSection).filter(({ limits }) => limits !== undefined);
  return [
    ...contradictions('rate-limit', limitsOfCalls(options, undefined, undefined)),
    ...plans.flatMap(({ days, limits }) =>
      contradictions(
        `the limits of the plan of ${days === 1 ? '1 day' : `${days} days`}`,
        limitsOfCalls(options, undefined, limits),
      ),
    ),
  ];
}

function contradictions(of: string, { limit, period, burst, concurrent }: CallLimits): string[] {
  const most = Math.floor(burst + (limit * maxRequestSeconds) / period);
  return [
    ...(burst > limit && period >= longPeriodSeconds
      ? [`${of}: after a pause, the burst lets ${burst} requests pass at once, and limit says ${limit} in ${period} s`]
      : []),
    ...(concurrent > most
      ? [`${of}: concurrent is ${concurrent}, and limit and burst let only ${most} requests begin in an hour`]
      : []),
  ];
}
