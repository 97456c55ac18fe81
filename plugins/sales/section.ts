import { plansSection } from '#core/business/accounts/plans.ts';
import { defineSection, type SectionValues } from '#core/config/section.ts';
import { integer, object } from '#core/platform/schema.ts';

/** The section `sales`: limits the number of concurrent passes. Plans can also have limits, in `plans`. */
export const salesSection = defineSection({
  name: 'sales',
  schema: object(
    { default: {} },
    'Limits on concurrent passes. Without limits, here or in `plans`, plans are never sold out.',
    {
      max_active: integer(
        { minimum: 1, maximum: 10_000_000 },
        'Maximum concurrent passes, including open orders and reserved places. When all places are taken, new customers wait; customers with a pass can always renew it. Default: no limit.',
      ),
      reserve_minutes: integer(
        { minimum: 5, maximum: 10_080, default: 1_440 },
        'Minutes for which a free place is reserved for the next customer on the waiting list.',
      ),
    },
  ),
  check({ max_active: all }, report, values) {
    if (all === undefined) return;
    for (const [index, { days, max_active: planMax = 0 }] of values.get(plansSection).entries())
      if (planMax > all)
        report(
          ['plans', index, 'max_active'],
          `is ${planMax} for ${days === 1 ? '1 day' : `${days} days`}, over sales.max_active, which is ${all}`,
          'use at most as many',
        );
  },
});

/** Limits on the number of accounts that hold a place. */
export interface PlaceLimits {
  /** Limit of all plans; undefined without one. */
  readonly all: number | undefined;
  /** Limits by the days of the plan; plans without a limit are missing. */
  readonly byPlan: ReadonlyMap<number, number>;
}

/** Returns the limits of `sales` and `plans`. */
export function getPlaceLimits(section: SectionValues['get']): PlaceLimits {
  const planLimits = section(plansSection).flatMap(({ days, max_active: planMax }) =>
    planMax === undefined ? [] : [[days, planMax] as const],
  );
  return { all: section(salesSection).max_active, byPlan: new Map(planLimits) };
}

export function hasLimits({ all, byPlan }: PlaceLimits): boolean {
  return all !== undefined || byPlan.size > 0;
}
