import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { journalReport } from '#core/gateway/records/journal-status.ts';
import { describeJournal } from './journal-report.ts';
import { journalGauges } from './gauges.ts';
import { partitionJob } from './partitions.ts';
import { recordsCheck } from './records-check.ts';
import { logStage } from './stage.ts';
import { requestsCommand } from './commands/requests-command.ts';
import { usageCommand } from './commands/usage-command.ts';
import { usageFoldJob, usageRetentionJob } from './usage-jobs.ts';

/** Writes the record of every request, maintains the partitions of its table, adds up usage by hour, and shows both. */
export const plugin: GatewayPlugin = {
  name: 'log',
  register(server) {
    server.gateway.stage(logStage);
    server.gateway.job(partitionJob);
    server.gateway.statusReport(journalReport(describeJournal));
    server.gateway.job(usageFoldJob);
    server.gateway.job(usageRetentionJob);
    server.gateway.command(requestsCommand);
    server.gateway.command(usageCommand);
    for (const gauge of journalGauges) server.gateway.gauge(gauge);
    server.gateway.healthCheck(recordsCheck);
  },
};
