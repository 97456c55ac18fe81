import { defineSection } from '#core/config/section.ts';
import { boolean, integer, object } from '#core/platform/schema.ts';

export const retirementsSection = defineSection({
  name: 'retirements',
  schema: object({ default: {} }, "Models that vendors retire. The vendors' lists of models are read once a day.", {
    ask: boolean({ default: true }, 'Set to false to read no lists. Published end dates still count.'),
    notice_days: integer(
      { minimum: 1, maximum: 365, default: 30 },
      'How many days before a model ends operators are alerted. Customers are notified too if no other route serves the model.',
    ),
  }),
});
