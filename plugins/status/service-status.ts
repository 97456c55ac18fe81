import { localTime } from '#core/commands/days.ts';
import { service } from '#core/config/sections.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/host.ts';
import { historyDays, healthReadings } from '#core/model-health/readings.ts';
import type { Incident } from '#core/model-health/incident.ts';
import { type ModelHealth, readModelHealth } from '#core/model-health/model-health.ts';
import { type DayStatus, describeDays, lastDays } from './days.ts';

/** How the service is, in no language yet. */
export interface ServiceStatus {
  readonly at: Date;
  readonly models: readonly ModelStatus[];
  /** Incidents of the last 90 days, newest first. */
  readonly incidents: readonly Incident[];
  /** False while the database does not respond: then breakers alone say how models are, and there is no history. */
  readonly isComplete: boolean;
}

export interface ModelStatus {
  readonly health: ModelHealth;
  /** 90 days, the oldest first, today last; none while the database does not respond. */
  readonly days: readonly DayStatus[];
  /** Share of answered requests in these days, 0 to 1; undefined without any. */
  readonly answered: number | undefined;
}

/** At most a few seconds old. Does not reject. */
export async function readServiceStatus(gateway: Pick<Registry, 'statusReports'>, host: Host): Promise<ServiceStatus> {
  const readings = healthReadings(host);
  const [health, answers, incidents] = await Promise.all([
    readModelHealth(gateway, host),
    readings.days.get().catch(() => undefined),
    readings.incidents.get().catch(() => undefined),
  ]);
  const at = new Date(host.now());
  const timeZone = host.section(service).time_zone;
  const days = lastDays(localTime(at, timeZone).day, historyDays);
  const models = health.map((model): ModelStatus => {
    if (answers === undefined) return { health: model, days: [], answered: undefined };
    const own = (incidents ?? []).filter((incident) => incident.model === model.id);
    return { health: model, ...describeDays(days, answers.get(model.id) ?? [], own, timeZone) };
  });
  return { at, models, incidents: incidents ?? [], isComplete: answers !== undefined && incidents !== undefined };
}
