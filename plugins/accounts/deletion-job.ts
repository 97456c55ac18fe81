import { cleanRecords, recentlyDeleted } from '#core/business/accounts/deletion.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';

/** Days for which records of requests may arrive after their account was deleted: a journal waits for the database. */
const days = 7;

export const cleanDeletedJob: JobDefinition = {
  name: 'clean-deleted-accounts',
  description: 'Removes content and addresses of requests that were recorded after their account was deleted.',
  schedule: { pattern: '41 * * * *' },
  async run(_data, { database }) {
    for (const accountId of await recentlyDeleted(database, days)) await cleanRecords(database, accountId);
  },
};
