import { defineSection } from '#core/config/section.ts';

/** The section `operator_actions`: the record of what operators have done on their pages. */
export const operatorActionsSection = defineSection({
  name: 'operator_actions',
  schema: {
    type: 'object',
    description: 'Record of what operators have done on the operator pages.',
    default: {},
    properties: {
      keep_days: {
        type: 'integer',
        minimum: 90,
        maximum: 36_500,
        default: 1_095,
        description: 'Days to keep it.',
      },
    },
    additionalProperties: false,
  },
});
