import { defineSection } from '#core/config/section.ts';

/** `operator_api` in gateway.yaml. */
export const operatorApiSection = defineSection({
  name: 'operator_api',
  fixed: ['enabled'],
  schema: {
    type: 'object',
    description: 'HTTP API for programs of the operator, below /operator/api. Every call needs a token.',
    default: {},
    properties: {
      enabled: {
        type: 'boolean',
        default: false,
        description: 'Whether it is served. A change takes effect at the next start.',
      },
      requests_per_minute: {
        type: 'integer',
        minimum: 1,
        maximum: 6_000,
        default: 120,
        description: 'Requests a minute of each token.',
      },
    },
    additionalProperties: false,
  },
});
