import { bounds } from '#core/bounds.ts';
import { defineSection } from '#core/config/section.ts';

const MiB = 1024 ** 2;

/** What the gateway stores so that clients of the Responses format can continue an answer. */
export const responsesSection = defineSection({
  name: 'responses',
  schema: {
    type: 'object',
    description: 'Storage of responses from /v1/responses, so that clients can continue and retrieve them.',
    default: {},
    properties: {
      keep_hours: {
        type: 'number',
        minimum: 0,
        maximum: 8784,
        default: 24,
        description: 'Hours for which a response can be continued and retrieved; 0 stores none.',
      },
      max_bytes: {
        type: 'integer',
        minimum: 1024,
        maximum: bounds.storedResponse,
        default: 4_194_304,
        description: 'Maximum bytes of a stored conversation, including the response.',
      },
      max_account_bytes: {
        type: 'integer',
        minimum: MiB,
        default: 256 * MiB,
        description:
          'Maximum bytes of the stored conversations of one account, at least 1048576 (1 MiB); the oldest are deleted first. Every ' +
          'response counts with its whole conversation.',
      },
    },
    additionalProperties: false,
  },
});
