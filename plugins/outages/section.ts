import { defineSection } from '#core/config/section.ts';
import { boolean, integer, object } from '#core/platform/schema.ts';

export const outagesSection = defineSection({
  name: 'outages',
  schema: object({ default: {} }, 'Time that customers get back after every route of a model they use was down.', {
    credit: boolean(
      { default: false },
      'Credits the time. Outages found before the first approval wait for an operator; later ones wait only if unconfirmed.',
    ),
    from_minutes: integer(
      { minimum: 1, maximum: 1_440, default: 5 },
      'Minutes that an outage must last, from its first to its last failed request.',
    ),
    max_minutes_per_day: integer(
      { minimum: 1, maximum: 1_440, default: 1_440 },
      'The most minutes that an account gets back per day in `service.time_zone`.',
    ),
    mail: boolean({ default: false }, 'Sends customers an email about a credit.'),
  }),
  notices: ({ credit, from_minutes: minMinutes, max_minutes_per_day: maxMinutes }) =>
    credit && minMinutes > maxMinutes
      ? [
          `outages.from_minutes is ${minMinutes}, but an account gets back at most ${maxMinutes} minutes per day, less than any such outage lasts`,
        ]
      : [],
});
