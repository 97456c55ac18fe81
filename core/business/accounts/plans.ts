import { defineSection, type SectionValue, type SectionValues } from '#core/config/section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { array, boolean, integer, number, object, string } from '#core/platform/schema.ts';
import { formatMoneyForTerminal } from './money.ts';

/** The most days of paid time that an account can hold. */
export const maxDaysAhead = 365;

const limitsSchema = object(
  { minProperties: 1 },
  'Limits on model calls while this plan runs, instead of those of rate-limit. Omitted limits stay as configured there; a key’s own limits (daypass key limit) override these.',
  {
    limit: integer({ minimum: 1, maximum: 1_000_000_000 }, 'Requests per period.'),
    period: number({ minimum: 1, maximum: 86_400 }, 'Seconds.'),
    burst: integer(
      { minimum: 1, maximum: 1_000_000_000 },
      'Maximum burst: requests that may be sent at once after a pause.',
    ),
    concurrent: integer({ minimum: 1, maximum: 1_000_000 }, 'Requests in flight at the same time.'),
    weight: number(
      { minimum: 0.1, maximum: 100 },
      'Share of the slots of a full upstream (`capacity`), relative to accounts with other weights. Default: 1.',
    ),
  },
);

const labelText = string({ minLength: 1, maxLength: 80 });

export const plansSection = defineSection({
  name: 'plans',
  schema: array(
    {
      minItems: 1,
      items: object(['days', 'price'], {
        days: integer({ minimum: 1, maximum: maxDaysAhead }, 'Days of 24 hours.'),
        price: integer(
          { minimum: 1, maximum: 1_000_000_000_000 },
          'Price in the smallest unit in which the currency is paid: rupiah for IDR, cents for USD.',
        ),
        label: {
          description: 'Short text about who the plan is for: one text, or one per language.',
          anyOf: [
            labelText,
            object(['en', 'id'], {
              en: string(labelText, 'English text, also used in records.'),
              id: string(labelText, 'Indonesian text.'),
            }),
          ],
        },
        recommended: boolean('True for the one plan that pages recommend.'),
        max_active: integer(
          { minimum: 1, maximum: 10_000_000 },
          'How many passes of this plan may run at the same time; `sales: { max_active }` limits all plans together. Default: no limit.',
        ),
        limits: limitsSchema,
      }),
      default: [
        { days: 1, price: 18_000, label: { en: 'for trying out', id: 'untuk mencoba' } },
        { days: 3, price: 48_000 },
        { days: 7, price: 95_000, label: { en: 'for weekly work', id: 'untuk kerja mingguan' }, recommended: true },
        { days: 30, price: 289_000, label: { en: 'for teams and production', id: 'untuk tim dan produksi' } },
      ],
    },
    'Plans for sale: access for a number of days, paid once.',
  ),
  check(plans, report) {
    const [firstRecommended, secondRecommended] = plans.flatMap(({ recommended }, index) =>
      recommended === true ? [index] : [],
    );
    if (firstRecommended !== undefined && secondRecommended !== undefined)
      report(
        ['plans', secondRecommended, 'recommended'],
        `is also true in plan ${firstRecommended + 1}`,
        'mark one plan',
      );
    const indexByDays = new Map<number, number>();
    for (const [index, { days }] of plans.entries()) {
      const firstIndex = indexByDays.get(days);
      if (firstIndex === undefined) {
        indexByDays.set(days, index);
        continue;
      }
      report(
        ['plans', index, 'days'],
        `is ${days}, the same as in plan ${firstIndex + 1}`,
        'give each plan a different number of days',
      );
    }
  },
});

export const currencySection = defineSection({
  name: 'currency',
  schema: string({ pattern: '^[A-Z]{3}$', default: 'IDR' }, 'Currency of all prices: the three letters of ISO 4217.'),
  check(currency, report) {
    if (Intl.supportedValuesOf('currency').includes(currency)) return;
    report(['currency'], `is "${currency}", which is not a currency`, 'use a code of ISO 4217, for example IDR or USD');
  },
});

export function pricePerDay({ days, price }: { readonly days: number; readonly price: number }): number {
  return Math.round(price / days);
}

/** Lists a warning for each plan that costs at least as much per day as a shorter one. */
export function listPriceWarnings(values: SectionValues): string[] {
  const currency = values.get(currencySection);
  const plans = values.get(plansSection).toSorted((a, b) => a.days - b.days);
  const describeDailyPrice = (plan: (typeof plans)[number]) =>
    `${plan.days === 1 ? '1 day is' : `${plan.days} days are`} ${formatMoneyForTerminal(pricePerDay(plan), currency)} a day`;
  return plans.flatMap((plan, index) => {
    // Cross-multiplied to avoid rounding.
    const shorterPlan = plans
      .slice(0, index)
      .find((candidate) => plan.price * candidate.days >= candidate.price * plan.days);
    return shorterPlan === undefined
      ? []
      : [
          `a longer plan is not cheaper per day: ${describeDailyPrice(plan)}, ${describeDailyPrice(shorterPlan)}; lower the price of ${plan.days} days`,
        ];
  });
}

export type PlanLabel = NonNullable<SectionValue<typeof plansSection>[number]['label']>;

/** Records, providers' receipts and the API use the English label. */
export function selectLabel(language: 'en' | 'id', label: PlanLabel | undefined): string | undefined {
  return typeof label === 'object' ? label[language] : label;
}

/** Translates a recorded (English) label using its plan in gateway.yaml. Returns the label unchanged if there is no such plan. */
export function translateRecordedLabel(
  language: 'en' | 'id',
  label: string,
  { section }: Pick<Host, 'section'>,
): string {
  const plan = section(plansSection).find((candidate) => selectLabel('en', candidate.label) === label);
  return selectLabel(language, plan?.label) ?? label;
}
