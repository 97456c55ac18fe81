import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Model } from '#core/config/catalog/catalog.ts';
import type { StatusReports } from '#core/gateway/health/status-report.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { readRouteStatus } from '#core/gateway/model-call/route-status.ts';
import { readCurrentIncidents, removeIncident, storeIncident, removeOldIncidents } from './incident-store.ts';
import { endRemovedIncident, updateIncident, type Incident, type Observation, outcomeOf } from './incident.ts';
import { assessModel } from './model-health.ts';
import { getHealthReadings } from './readings.ts';
import { readRecentTraffic } from './recent-traffic.ts';
import { computeAnsweredShare, noTraffic } from './trouble.ts';

interface IncidentChanges {
  readonly opened: readonly Incident[];
  readonly ended: readonly Incident[];
}

/**
 * Observes every model once and updates the incidents in one transaction. If several instances try at the same time, only one proceeds; for
 * the others, the result is undefined. All state is in the table, so a restart changes nothing.
 */
export async function watchModels(gateway: StatusReports, host: Host): Promise<IncidentChanges | undefined> {
  const observe = await createObserver(gateway, host);
  return host.database.fork().transactional(async (transaction) => {
    const [lock] = await transaction.execute<{ is_mine: boolean }[]>(
      `SELECT pg_try_advisory_xact_lock(hashtext('watch-models')) AS is_mine`,
    );
    if (lock?.is_mine !== true) return undefined;
    return updateIncidents(transaction, host.catalog.models, observe);
  });
}

type Observe = (model: Model, current: Incident | undefined) => Observation;

async function createObserver(gateway: StatusReports, host: Host): Promise<Observe> {
  const { database, catalog } = host;
  const at = host.now();
  const [traffic, speed] = await Promise.all([
    readRecentTraffic(database, catalog, at),
    getHealthReadings(host)
      .speed.get()
      // Without the slow query for usual speeds, only slowness goes unnoticed.
      .catch(() => undefined),
  ]);
  const statuses = readRouteStatus(gateway, host);
  return (model, current) => {
    const recent = traffic.get(model.publicName) ?? noTraffic;
    const assessment = assessModel(model, statuses, recent, speed?.get(model.publicName), current, at);
    return { at, ...assessment, answered: computeAnsweredShare(recent) };
  };
}

async function updateIncidents(
  transaction: EntityManager,
  models: readonly Model[],
  observe: Observe,
): Promise<IncidentChanges> {
  const currentIncidents = new Map(
    (await readCurrentIncidents(transaction)).map((incident) => [incident.model, incident]),
  );
  const offeredModels = new Map(models.map((model) => [model.publicName, model]));
  const opened: Incident[] = [];
  const ended: Incident[] = [];
  for (const name of new Set([...currentIncidents.keys(), ...offeredModels.keys()])) {
    const previous = currentIncidents.get(name);
    const model = offeredModels.get(name);
    const updated =
      model === undefined
        ? previous && endRemovedIncident(previous)
        : updateIncident(name, previous, observe(model, previous), randomUUIDv7);
    if (updated !== undefined) await storeIncident(transaction, updated);
    else if (previous !== undefined) await removeIncident(transaction, previous);
    if (updated?.openedAt !== undefined && previous?.openedAt === undefined) opened.push(updated);
    if (updated?.endedAt !== undefined) ended.push(updated);
  }
  return { opened, ended };
}

const intervalSeconds = 15;

const endingTexts = {
  recovered: 'has recovered',
  no_traffic: 'had no traffic since it failed, and is used again',
  removed: 'was removed from the catalog, without having recovered',
} as const;

/** Creates the job that opens and ends incidents, based on breakers and records. `onChange` runs after a change. */
export function watchJob(gateway: StatusReports, onChange: (host: Host) => void): JobDefinition {
  return {
    name: 'watch-models',
    description: 'Observes every model, and opens and ends incidents.',
    schedule: { every: intervalSeconds },
    attempts: 1,
    async run(_data, host) {
      const { opened = [], ended = [] } = (await watchModels(gateway, host)) ?? {};
      for (const { model, kind, cause } of opened) host.log.warn(`incident: model ${model} is ${kind} (${cause})`);
      for (const incident of ended)
        host.log.info(`incident: model ${incident.model} ${endingTexts[outcomeOf(incident)]}`);
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
