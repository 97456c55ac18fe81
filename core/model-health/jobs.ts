import type { Registry } from '../extension/registry.ts';
import type { JobDefinition } from '../jobs/definition.ts';
import { publishLive } from '../pages/live/live-bus.ts';
import { removeOldIncidents } from './incident-store.ts';
import { watchModels } from './watch.ts';

/** Seconds between two observations. */
const interval = 15;

/** Opens and ends incidents from breakers and records. */
export function watchJob(gateway: Pick<Registry, 'statusReports'>): JobDefinition {
  return {
    name: 'watch-models',
    description: 'Observes every model, and opens and ends incidents.',
    schedule: { every: interval },
    attempts: 1,
    async run(_data, host) {
      const { opened = [], ended = [] } = (await watchModels(gateway, host)) ?? {};
      for (const { model, kind, cause } of opened) host.log.warn(`incident: model ${model} is ${kind} (${cause})`);
      for (const { model } of ended) host.log.info(`incident: model ${model} has recovered`);
      if (opened.length + ended.length > 0) publishLive(host, 'health');
    },
  };
}

export const incidentRetentionJob: JobDefinition = {
  name: 'remove-old-incidents',
  description: 'Deletes incidents that ended more than 400 days ago.',
  schedule: { pattern: '41 3 * * *' },
  run: (_data, host) => removeOldIncidents(host.database, host.now()),
};
