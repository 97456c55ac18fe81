import { defineSection } from '#core/config/section.ts';
import { upstreams } from '#core/config/sections/upstreams-section.ts';
import { boolean, number, object, string } from '#core/platform/schema.ts';
import { isDay } from '#core/platform/timing/time-zone.ts';

export const balancesSection = defineSection({
  name: 'balances',
  schema: object(
    { default: {} },
    'Remaining balances at vendors, and how long they will last. Vendors that report balances to an API key are queried every hour.',
    {
      ask: boolean({ default: true }, 'Queries the vendors.'),
      alert_days: number(
        { minimum: 0, maximum: 365, default: 3 },
        'How many days before a balance runs out, at last week’s usage, operators are alerted.',
      ),
      own: {
        type: 'object',
        default: {},
        description:
          'Balances that you state yourself, by upstream, for vendors that report none. Usage since then is computed from the ' +
          'records at the prices in `cost`; the figure must be in the same currency.',
        additionalProperties: object(['amount', 'as_of'], {
          amount: number({ minimum: 0, maximum: 999_999_999 }, 'Balance at the start of that day.'),
          as_of: string(
            { pattern: '^\\d{4}-\\d\\d-\\d\\d$' },
            'The day, such as 2026-11-29. It begins at midnight UTC.',
          ),
        }),
      },
    },
  ),
  check({ own }, report, all) {
    const upstreamNames = all.names(upstreams);
    for (const [name, { as_of: day }] of Object.entries(own)) {
      if (upstreamNames !== undefined && !upstreamNames.includes(name))
        report(['balances', 'own', name], 'is not an upstream', 'use a name from upstreams', true);
      if (!isDay(day)) report(['balances', 'own', name, 'as_of'], `is "${day}"`, 'use a day, such as 2026-11-29');
    }
  },
  notices({ own }, all) {
    const priced = all.get(upstreams);
    return Object.keys(own).flatMap((name) =>
      priced[name]?.cost === undefined
        ? [`balances.own.${name}: upstreams.${name} has no cost, so its usage is unknown`]
        : [],
    );
  },
});
