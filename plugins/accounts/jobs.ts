import { publishEvents, removeOldEvents } from '#core/business/accounts/account-events.ts';
import { removeLateRecords, listRecentlyDeleted } from '#core/business/accounts/deletion.ts';
import { findDuePlanEnds, recordPlanEnd } from '#core/business/accounts/plan-end.ts';
import { clearReplacedDigests } from '#core/business/accounts/replaced-keys.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';
import { object, string } from '#core/platform/schema.ts';

/** Publishes events that the relay missed: notifications are lost while the connection to PostgreSQL is down. */
export const publishJob: JobDefinition = {
  name: 'publish-account-events',
  description: 'Publishes recorded events that have not been published yet.',
  schedule: { every: 15 },
  attempts: 1,
  async run(_data, host) {
    await publishEvents(host);
  },
};

export const retentionJob: JobDefinition = {
  name: 'remove-old-account-events',
  description: 'Deletes events published, and digests of keys replaced, more than 90 days ago.',
  schedule: { pattern: '23 3 * * *' },
  async run(_data, host) {
    await removeOldEvents(host.database);
    await clearReplacedDigests(host.database);
  },
};

const maxRecordDelayDays = 7; // after the deletion; a record waits in a journal while the database is down

export const cleanDeletedJob: JobDefinition = {
  name: 'clean-deleted-accounts',
  description: 'Removes content and addresses of requests that were recorded after their account was deleted.',
  schedule: { pattern: '41 * * * *' },
  async run(_data, { database }) {
    for (const accountId of await listRecentlyDeleted(database, maxRecordDelayDays))
      await removeLateRecords(database, accountId);
  },
};

const intervalSeconds = 60;
const lookAheadSeconds = 2 * intervalSeconds; // two sweeps, so that each end is reported on time
const slackSeconds = 0.1; // the clocks of queue and database may differ

export const planEndJob: JobDefinition<{ accountId: string }> = {
  name: 'plan-end',
  description: "Records that an account's plan has ended, or ends within 24 hours.",
  data: object(['accountId'], { accountId: string() }),
  async run({ accountId }, host) {
    await recordPlanEnd(host.database, accountId);
  },
};

/** Enqueues jobs that are due soon and runs overdue ones, so losing the queue delays them by only a minute. */
export const planEndSweep: JobDefinition = {
  name: 'plan-end-sweep',
  description: 'Finds plans that have ended, or end within 24 hours.',
  schedule: { every: intervalSeconds },
  attempts: 1,
  async run(_data, host) {
    for (const { accountId, id, dueInSeconds } of await findDuePlanEnds(host.database, lookAheadSeconds)) {
      if (dueInSeconds <= 0) await recordPlanEnd(host.database, accountId);
      else await host.jobs.add('plan-end', { accountId }, { id, delay: dueInSeconds + slackSeconds });
    }
  },
};
