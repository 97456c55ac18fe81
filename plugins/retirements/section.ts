import { defineSection } from '#core/config/section.ts';
import { boolean, integer, object } from '#core/platform/schema.ts';

/** `retirements` in gateway.yaml. */
export const retirementsSection = defineSection({
  name: 'retirements',
  schema: object({ default: {} }, 'Models that vendors retire: their lists of models are read once a day.', {
    ask: boolean({ default: true }, 'False to read no list; published days of ends still count.'),
    notice_days: integer(
      { minimum: 1, maximum: 365, default: 30 },
      'Days before the end of a model from which on operators are told, and customers of a model that nothing else serves.',
    ),
  }),
});
