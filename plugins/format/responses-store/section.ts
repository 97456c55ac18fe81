import { bounds } from '#core/bounds.ts';
import { defineSection } from '#core/config/section.ts';

const MiB = 1024 ** 2;

/** What the gateway stores so that clients of the Responses format can continue an answer. */
export const responsesSection = defineSection({
  name: 'responses',
  schema: {
    type: 'object',
    description: 'What is kept of answers on /v1/responses, so that clients can continue and fetch them.',
    default: {},
    properties: {
      keep_hours: {
        type: 'number',
        minimum: 0,
        maximum: 8784,
        default: 24,
        description: 'Hours for which an answer can be continued and fetched; 0 keeps none.',
      },
      max_bytes: {
        type: 'integer',
        minimum: 1024,
        maximum: bounds.storedResponse,
        default: 4_194_304,
        description: 'Bytes of the largest conversation that is kept, answer included.',
      },
      max_account_bytes: {
        type: 'integer',
        minimum: MiB,
        default: 256 * MiB,
        description:
          'Bytes of all conversations that are kept for one account, 1048576 (1 MiB) at least; its oldest go first. Every ' +
          'answer counts with its whole conversation.',
      },
    },
    additionalProperties: false,
  },
});
