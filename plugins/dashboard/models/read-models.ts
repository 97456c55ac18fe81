import {
  computeAnsweredShareOfDays,
  type DayStatus,
  describeDays,
  listLastDays,
} from '#core/business/model-health/days.ts';
import { type ModelHealth, readModelHealth } from '#core/business/model-health/model-health.ts';
import { getHealthReadings, historyDays } from '#core/business/model-health/readings.ts';
import { findBestSupport, type ModelAbilities, readAbilities } from '#core/config/catalog/abilities.ts';
import { findModelsWithoutBackup } from '#core/config/catalog/backups.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { Registry } from '#core/extension/registry.ts';
import { formatLocalTime } from '#core/platform/timing/time-zone.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { readNotes } from '#core/web/pages/plugin-notes.ts';
import { createRouteNames } from '../route-names.ts';
import type { ModelFilter, ModelsQuery, SortColumn } from './query.ts';

export const listedDays = 28; // a model's page shows all recorded days
const minLongContext = 200_000;

export interface ModelReading {
  readonly model: Model;
  readonly abilities: ModelAbilities;
  readonly health: ModelHealth | undefined;
  readonly aliases: readonly string[]; // excluding patterns
  readonly notes: readonly string[]; // from plugins
  readonly lacksBackup: boolean; // false if the reader may not see routes
  readonly firstTokenMs: number | undefined; // median of the last seven days; undefined if not measured
  readonly tokensPerSecond: number | undefined; // of streams in the last seven days; undefined if none was long enough
  uptime(days: number): number | undefined; // share of answered requests, 0 to 1; undefined if there were none
  history(days: number): readonly DayStatus[]; // oldest first; empty while the database does not respond
}

/** Never rejects: while the database is down, figures are missing. */
export async function readModels(gateway: Registry, request: PageRequest): Promise<ModelReading[]> {
  const { host } = request;
  const modelsWithNoBackup = new Set(
    createRouteNames(request).areShown ? findModelsWithoutBackup(host.catalog.models) : [],
  );
  const readings = getHealthReadings(host);
  const [health, speeds, answers, incidents, notes] = await Promise.all([
    readModelHealth(gateway, host),
    readings.speed.get().catch(() => undefined),
    readings.days.get().catch(() => undefined),
    readings.incidents.get().catch(() => undefined),
    readNotes(gateway.modelNoteSources, request),
  ]);
  const states = new Map(health.map((state) => [state.id, state]));
  const namesByModel = Map.groupBy(host.catalog.listed, ({ model }) => model);
  const incidentsByModel = Map.groupBy(incidents ?? [], ({ model }) => model);
  const timeZone = host.section(service).time_zone;
  const allDays = listLastDays(formatLocalTime(new Date(host.now()), timeZone).day, historyDays);
  return host.catalog.models.map((model): ModelReading => {
    const name = model.publicName;
    const dailyAnswers = answers?.get(name) ?? [];
    const speed = speeds?.get(name);
    return {
      model,
      abilities: readAbilities(gateway, model),
      health: states.get(name),
      aliases: (namesByModel.get(model) ?? []).filter((alias) => alias.name !== name).map((alias) => alias.name),
      notes: (notes.get(name) ?? []).map(({ text }) => text),
      lacksBackup: modelsWithNoBackup.has(model),
      firstTokenMs: speed?.weekMs,
      tokensPerSecond: speed?.tokensPerSecond,
      uptime: (days) => computeAnsweredShareOfDays(allDays.slice(-days), dailyAnswers),
      history: (days) =>
        answers === undefined
          ? []
          : describeDays(allDays.slice(-days), dailyAnswers, incidentsByModel.get(name) ?? [], timeZone).days,
    };
  });
}

const sortValues: Readonly<Record<SortColumn, (reading: ModelReading) => number | string | undefined>> = {
  name: ({ model }) => model.publicName,
  context: ({ abilities }) => abilities.maxInputTokens,
  output: ({ abilities }) => abilities.maxOutputTokens,
  first: ({ firstTokenMs }) => firstTokenMs,
  speed: ({ tokensPerSecond }) => tokensPerSecond,
  uptime: (reading) => reading.uptime(listedDays),
};

/** In both directions, models without a value come last. */
export function sortReadings(readings: readonly ModelReading[], { sort }: Pick<ModelsQuery, 'sort'>): ModelReading[] {
  if (sort === undefined) return [...readings];
  const sign = sort.direction === 'ascending' ? 1 : -1;
  return readings
    .map((reading) => ({ reading, value: sortValues[sort.column](reading) }))
    .toSorted((a, b) => {
      if (a.value === undefined || b.value === undefined)
        return Number(a.value === undefined) - Number(b.value === undefined);
      return sign * compareValues(a.value, b.value);
    })
    .map(({ reading }) => reading);
}

function compareValues(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), 'en', { numeric: true });
}

export function passesFilter({ abilities }: ModelReading, filter: ModelFilter): boolean {
  if (filter === 'long') return (abilities.maxInputTokens ?? 0) >= minLongContext;
  return findBestSupport(abilities, filter) !== 'no';
}
