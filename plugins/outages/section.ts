import { defineSection } from '#core/config/section.ts';
import { boolean, integer, object } from '#core/platform/schema.ts';

/** The section `outages`: controls whether customers are credited for the time in which models were down. */
export const outagesSection = defineSection({
  name: 'outages',
  schema: object({ default: {} }, 'Time that customers get back when every route of a model they use was down.', {
    credit: boolean(
      { default: false },
      'Whether time is given back. Outages found before an operator has approved the first wait for him; later ones do not if they are confirmed.',
    ),
    from_minutes: integer(
      { minimum: 1, maximum: 1_440, default: 5 },
      'Minutes that an outage must last, from its first to its last failed request.',
    ),
    max_minutes_per_day: integer(
      { minimum: 1, maximum: 1_440, default: 1_440 },
      'Minutes of a day in `service.time_zone` that an account gets back at most.',
    ),
    mail: boolean({ default: false }, 'Whether customers get an email about it.'),
  }),
  notices: ({ credit, from_minutes: least, max_minutes_per_day: most }) =>
    credit && least > most
      ? [
          `outages.from_minutes is ${least}, and an account gets back at most ${most} minutes of a day, less than any such outage lasts`,
        ]
      : [],
});
