import { defineSection } from '#core/config/section.ts';
import { boolean, integer, object } from '#core/platform/schema.ts';

export const operatorApiSection = defineSection({
  name: 'operator_api',
  fixed: ['enabled'],
  schema: object(
    { default: {} },
    'HTTP API for the operator’s programs, below /operator/api. Every call needs a token.',
    {
      enabled: boolean({ default: false }, 'Serves the API. A change takes effect at the next start.'),
      requests_per_minute: integer({ minimum: 1, maximum: 6_000, default: 120 }, 'Requests per minute and token.'),
    },
  ),
});
