import { defineSection } from '#core/config/section.ts';

/** The section `outages`: whether customers get back the time in which models were down. */
export const outagesSection = defineSection({
  name: 'outages',
  schema: {
    type: 'object',
    description: 'Time that customers get back when every route of a model they use was down.',
    properties: {
      credit: {
        type: 'boolean',
        default: false,
        description: 'Whether time is given back. The first time waits for an operator; later ones do not.',
      },
      from_minutes: {
        type: 'integer',
        minimum: 1,
        maximum: 1_440,
        default: 5,
        description: 'Minutes that an outage must last, from its first to its last failed request.',
      },
      max_minutes_per_day: {
        type: 'integer',
        minimum: 1,
        maximum: 1_440,
        default: 1_440,
        description: 'Minutes of a day in `service.time_zone` that an account gets back at most.',
      },
      mail: { type: 'boolean', default: false, description: 'Whether customers get a mail about it.' },
    },
    additionalProperties: false,
    default: {},
  },
});
