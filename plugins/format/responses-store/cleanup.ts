import type { JobDefinition } from '#core/jobs/definition.ts';
import { ResponseRows } from './rows.ts';

/** Safe to run twice and at the same time; late only means that rows nobody can find any more take room. */
export const cleanupJob: JobDefinition = {
  name: 'responses-cleanup',
  description: 'Deletes stored responses that have expired.',
  schedule: { every: 60 * 60 },
  async run(_data, host) {
    const count = await new ResponseRows(host.database).deleteExpired(host.now());
    if (count > 0) host.log.info(`deleted ${count} stored responses that had expired`);
  },
};
