import type { StatusReports } from '#core/gateway/health/status-report.ts';
import type { JobDefinition } from '#core/gateway/host/job-definition.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { removeOldIncidents } from './incident-store.ts';
import { watchModels } from './watch.ts';

/** Seconds between two observations. */
const interval = 15;

/** Opens and ends incidents from breakers and records; `onChange` runs when one has. */
export function watchJob(gateway: StatusReports, onChange: (host: Host) => void): JobDefinition {
  return {
    name: 'watch-models',
    description: 'Observes every model, and opens and ends incidents.',
    schedule: { every: interval },
    attempts: 1,
    async run(_data, host) {
      const { opened = [], ended = [] } = (await watchModels(gateway, host)) ?? {};
      for (const { model, kind, cause } of opened) host.log.warn(`incident: model ${model} is ${kind} (${cause})`);
      for (const { model } of ended) host.log.info(`incident: model ${model} has recovered`);
      if (opened.length + ended.length > 0) onChange(host);
    },
  };
}

export const incidentRetentionJob: JobDefinition = {
  name: 'remove-old-incidents',
  description: 'Deletes incidents that ended more than 400 days ago.',
  schedule: { pattern: '41 3 * * *' },
  run: (_data, host) => removeOldIncidents(host.database, host.now()),
};
