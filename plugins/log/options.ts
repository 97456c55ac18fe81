import { bounds } from '#core/platform/bounds.ts';
import { boolean, type Infer, integer, object } from '#core/platform/schema.ts';

export const logOptions = object({
  keep_days: integer({ minimum: 1, maximum: 3650, default: 30 }, 'Days to keep records, not counting today.'),
  max_journal_bytes: integer(
    { minimum: 16_777_216, default: 1_073_741_824 },
    'Maximum bytes of records on disk waiting for the database. Over the limit, requests are served but not recorded.',
  ),
  late_after: integer(
    { minimum: 5, maximum: 3600, default: 15 },
    'Seconds that a record may wait for the database before the health check `records` fails. A database that refuses records fails it at once.',
  ),
  content: boolean(
    { default: false },
    'Also records prompts and responses, and keeps them as long as the records. Inform your users.',
  ),
  max_content_bytes: integer(
    { minimum: 1, maximum: bounds.loggedContent, default: 65_536 },
    'Maximum bytes of each prompt and response that `content` records; longer ones are truncated and marked.',
  ),
});

export type LogOptions = Infer<typeof logOptions>;
