import { plansSection } from '#core/business/accounts/plans.ts';
import { defineSection, type SectionValues } from '#core/config/section.ts';
import { integer, object } from '#core/platform/schema.ts';

export const salesSection = defineSection({
  name: 'sales',
  schema: object(
    { default: {} },
    'Limits on how many passes may be active at a time. Without limits, here or in `plans`, plans are never sold out.',
    {
      max_active: integer(
        { minimum: 1, maximum: 10_000_000 },
        'The most passes at a time, including open orders and reserved places. When all places are taken, new customers wait; customers with a pass can always renew it. Default: no limit.',
      ),
      reserve_minutes: integer(
        { minimum: 5, maximum: 10_080, default: 1_440 },
        'How many minutes a free place is reserved for the next customer on the waiting list.',
      ),
    },
  ),
  check({ max_active: all }, report, values) {
    if (all === undefined) return;
    for (const [index, { days, max_active: planMax = 0 }] of values.get(plansSection).entries())
      if (planMax > all)
        report(
          ['plans', index, 'max_active'],
          `is ${planMax} for ${days === 1 ? '1 day' : `${days} days`}, more than sales.max_active, which is ${all}`,
          `use at most ${all}`,
        );
  },
});

export interface PlaceLimits {
  readonly all: number | undefined; // all plans together
  readonly byPlan: ReadonlyMap<number, number>; // by the plan's days; only plans with a limit
}

export function getPlaceLimits(section: SectionValues['get']): PlaceLimits {
  const planLimits = section(plansSection).flatMap(({ days, max_active: planMax }) =>
    planMax === undefined ? [] : [[days, planMax] as const],
  );
  return { all: section(salesSection).max_active, byPlan: new Map(planLimits) };
}

export function hasLimits({ all, byPlan }: PlaceLimits): boolean {
  return all !== undefined || byPlan.size > 0;
}
