import { type DayStatus, describeDays, listLastDays } from '#core/business/model-health/days.ts';
import type { Incident } from '#core/business/model-health/incident.ts';
import { type ModelHealth, readModelHealth, severityOf } from '#core/business/model-health/model-health.ts';
import { historyDays, getHealthReadings, type ModelCheckup } from '#core/business/model-health/readings.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { formatLocalTime } from '#core/platform/timing/time-zone.ts';
import { sliceEntries, type ListPage, clampPage } from '#core/web/pages/pagination.ts';

export interface ServiceStatus {
  readonly at: Date;
  readonly health: readonly ModelHealth[]; // if there are several pages, models in trouble come first
  readonly models: readonly ModelStatus[]; // on this page
  readonly page: ListPage;
  readonly incidents: readonly Incident[]; // of the last 90 days, newest first
  readonly credited: ReadonlyMap<string, number>; // ms, by incident id
  readonly isComplete: boolean; // false if the database does not respond: the models' states then come from breakers only
  readonly hasHistory: boolean; // if `isComplete` is false, the history may be an hour old
}

export interface ModelStatus {
  readonly health: ModelHealth;
  readonly days: readonly DayStatus[]; // the last 90, oldest first; empty if there is no history
  readonly answered: number | undefined; // share of these days' requests, 0 to 1; undefined without requests
  readonly checkup?: ModelCheckup | undefined; // the latest; undefined if unknown or not published
}

/** The status is at most a few seconds old. Never rejects, and takes about a second at most. */
export async function readServiceStatus(
  gateway: Pick<Registry, 'statusReports' | 'creditReader' | 'checkupReader'>,
  host: Host,
  requestedPage?: unknown,
): Promise<ServiceStatus> {
  const readings = getHealthReadings(host);
  const [health, answers, incidents, credited = new Map<string, number>(), checkups] = await Promise.all([
    readModelHealth(gateway, host),
    readings.days.get().catch(() => undefined),
    readings.incidents.get().catch(() => undefined),
    gateway.creditReader?.(host).catch(() => undefined),
    gateway.checkupReader?.(host).catch(() => undefined),
  ]);
  const at = new Date(host.now());
  const timeZone = host.section(service).time_zone;
  const days = listLastDays(formatLocalTime(at, timeZone).day, historyDays);
  const incidentsByModel = Map.groupBy(incidents ?? [], ({ model }) => model);
  const page = findPage(requestedPage, health.length);
  const sortedHealth = page.count > 1 ? health.toSorted((a, b) => severityOf(a.state) - severityOf(b.state)) : health;
  const models = sliceEntries(page, sortedHealth).map((model): ModelStatus => {
    const checkup = checkups?.get(model.id);
    if (answers === undefined) return { health: model, days: [], answered: undefined, checkup };
    const modelIncidents = incidentsByModel.get(model.id) ?? [];
    return { health: model, checkup, ...describeDays(days, answers.get(model.id) ?? [], modelIncidents, timeZone) };
  });
  const hasHistory = answers !== undefined && incidents !== undefined;
  const isComplete = hasHistory && !readings.incidents.isStale && !readings.days.isStale;
  return { at, health: sortedHealth, models, page, incidents: incidents ?? [], credited, isComplete, hasHistory };
}

export function findPage(requestedPage: unknown, models: number): ListPage {
  return clampPage(
    typeof requestedPage === 'string' && /^\d{1,6}$/.test(requestedPage) ? Number(requestedPage) : 1,
    models,
  );
}
