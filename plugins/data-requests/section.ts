import { defineSection } from '#core/config/section.ts';
import { boolean, integer, object } from '#core/platform/schema.ts';

/** `data_requests` in gateway.yaml. */
export const dataRequestsSection = defineSection({
  name: 'data_requests',
  schema: object(
    { default: {} },
    'Requests of people about their data: to see, correct or delete it, or to stop its use. Customers make them on a page of their account, operators record those that came otherwise.',
    {
      enabled: boolean(
        { default: false },
        'Whether customers have the page. Operators can record requests in any case.',
      ),
      answer_hours: integer(
        { minimum: 1, maximum: 2160, default: 72 },
        'Hours from when a request is received until it must be answered.',
      ),
      keep_years: integer(
        { minimum: 1, maximum: 50, default: 5 },
        'Years, from the end of that of the answer, for which answered requests are kept as a proof. Then they are deleted.',
      ),
    },
  ),
});
