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

/** Runs once a day. */
export const retentionJob: JobDefinition = {
  name: 'remove-old-account-events',
  description: 'Deletes events published, and digests of keys replaced, more than 90 days ago.',
  schedule: { pattern: '23 3 * * *' },
  async run(_data, host) {
    await removeOldEvents(host.database);
    await clearReplacedDigests(host.database);
  },
};

/** How late a request record may arrive after its account was deleted; it waits in a journal while the database is down. */
const maxRecordDelayDays = 7;

/** Runs every hour. */
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
/** How far ahead a sweep enqueues jobs, so that each end is reported on time. */
const lookAheadSeconds = 2 * intervalSeconds;
/** Added to a job's due time, because the clocks of queue and database may differ. */
const slackSeconds = 0.1;

/** Runs when a plan ends, and 24 hours before. */
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
