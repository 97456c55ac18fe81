import { defineSection } from '#core/config/section.ts';
import { boolean, integer, object } from '#core/platform/schema.ts';

export const dataRequestsSection = defineSection({
  name: 'data_requests',
  schema: object(
    { default: {} },
    'Requests from people about their data: to see, correct or delete it, or to stop its use. Customers make them on an account page; operators record those that arrive by other channels.',
    {
      enabled: boolean({ default: false }, 'Shows the page to customers. Operators can always record requests.'),
      answer_hours: integer(
        { minimum: 1, maximum: 2160, default: 72 },
        'Hours, from when a request is received, within which it must be answered.',
      ),
      keep_years: integer(
        { minimum: 1, maximum: 50, default: 5 },
        'Years to keep answered requests as evidence, counted from the end of the calendar year of the answer. Then they are deleted.',
      ),
    },
  ),
});
