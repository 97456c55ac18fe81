import type { JobDefinition } from '#core/gateway/host/host.ts';
import { foldUsage, removeOldUsage } from '#core/gateway/records/fold-usage.ts';
import { usageDays } from '#core/gateway/records/usage.ts';

/** Readers add up hours and deltas, so this decides how many rows they read, not what they count. */
export const usageFoldJob: JobDefinition = {
  name: 'usage-rollup',
  description: 'Adds the counts of recent requests to the usage of their hours.',
  schedule: { every: 20 },
  attempts: 1,
  async run(_data, { database }) {
    await foldUsage(database);
  },
};

export const usageRetentionJob: JobDefinition = {
  name: 'usage-retention',
  description: `Deletes usage of more than ${usageDays} days ago.`,
  schedule: { pattern: '53 3 * * *' },
  async run(_data, { database }) {
    await removeOldUsage(database, usageDays);
  },
};
