import type { JobDefinition } from '#core/jobs/definition.ts';
import { ResponseRows } from './rows.ts';

/** Safe to run twice and concurrently. When it is late, expired rows only take up space. */
export const cleanupJob: JobDefinition = {
  name: 'responses-cleanup',
  description: 'Deletes stored responses that have expired.',
  schedule: { every: 60 * 60 },
  async run(_data, host) {
    const count = await new ResponseRows(host.database).deleteExpired(host.now());
    if (count > 0) host.log.info(`deleted ${count} stored responses that had expired`);
  },
};
