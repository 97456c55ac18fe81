import type { GatewayPlugin } from '#core/extension/plugin.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';
import { foldUsage, removeOldUsage } from '#core/gateway/records/fold-usage.ts';
import { createJournalReport } from '#core/gateway/records/journal-status.ts';
import { usageRetentionDays } from '#core/gateway/records/usage.ts';
import { describeJournal, journalGauges } from './active-log.ts';
import { requestReading, requestsCommand } from './commands/requests-command.ts';
import { requests } from './commands/requests.ts';
import { unauthenticatedReading } from './commands/unauthenticated-reading.ts';
import { usageCommand, usageReading } from './commands/usage-command.ts';
import { partitionJob } from './partitions.ts';
import { recordsCheck } from './records-check.ts';
import { logStage } from './stage.ts';

const usageFoldJob: JobDefinition = {
  name: 'usage-rollup',
  description: 'Adds recent requests to hourly usage.',
  // Readers add up recent requests and hourly usage, so the interval changes how many rows they read but not the counts.
  schedule: { every: 20 },
  attempts: 1,
  async run(_data, { database }) {
    await foldUsage(database);
  },
};

const usageRetentionJob: JobDefinition = {
  name: 'usage-retention',
  description: `Deletes usage of more than ${usageRetentionDays} days ago.`,
  schedule: { pattern: '53 3 * * *' },
  async run(_data, { database }) {
    await removeOldUsage(database, usageRetentionDays);
  },
};

/** Records every request, maintains the table's partitions, sums usage by hour, and adds commands for requests and usage. */
export const plugin: GatewayPlugin = {
  name: 'log',
  register(server) {
    server.gateway.stage(logStage);
    server.gateway.job(partitionJob);
    server.gateway.statusReport(createJournalReport(describeJournal));
    server.gateway.job(usageFoldJob);
    server.gateway.job(usageRetentionJob);
    server.gateway.resource(requests);
    server.gateway.operatorReading(requestReading);
    server.gateway.operatorReading(unauthenticatedReading);
    server.gateway.command(requestsCommand);
    server.gateway.command(usageCommand(server.gateway));
    server.gateway.operatorReading(usageReading(server.gateway));
    for (const gauge of journalGauges) server.gateway.gauge(gauge);
    server.gateway.healthCheck(recordsCheck);
  },
};
