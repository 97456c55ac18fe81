import { bestSupport, type ModelAbilities, readAbilities } from '#core/config/catalog/abilities.ts';
import { modelsWithoutBackup } from '#core/config/catalog/backups.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { answeredOn, type DayStatus, describeDays, lastDays } from '#core/business/model-health/days.ts';
import { type ModelHealth, readModelHealth } from '#core/business/model-health/model-health.ts';
import { healthReadings, historyDays } from '#core/business/model-health/readings.ts';
import type { Registry } from '#core/extension/registry.ts';
import { localTime } from '#core/platform/timing/time-zone.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { readNotes } from '#core/web/pages/plugin-notes.ts';
import { routeNamesFor } from '../route-names.ts';
import type { ModelFilter, ModelsQuery, SortColumn } from './query.ts';

/** Days of the uptime that the list compares; the page of a model has all that are counted. */
export const listedDays = 28;
const longContext = 200_000; // tokens of a context that is called long

/** Readings of one model. */
export interface ModelReading {
  readonly model: Model;
  readonly abilities: ModelAbilities;
  readonly health: ModelHealth | undefined;
  /** Exact aliases that lead to it. */
  readonly aliases: readonly string[];
  /** What plugins note about it. */
  readonly notes: readonly string[];
  /** It has no backup, and the reader sees routes. */
  readonly isAlone: boolean;
  /** Median ms to the first token in the last seven days; undefined without any. */
  readonly firstTokenMs: number | undefined;
  /** Tokens per second of streams in the last seven days; undefined without any that is long enough. */
  readonly tokensPerSecond: number | undefined;
  /** Share of answered requests in the last days, 0 to 1; undefined without any. */
  uptime(days: number): number | undefined;
  /** The last days, the oldest first; none while the database does not respond. */
  history(days: number): readonly DayStatus[];
}

/** All models in the order of gateway.yaml. Does not reject: without the database, figures are missing. */
export async function readModels(gateway: Registry, request: PageRequest): Promise<ModelReading[]> {
  const { host } = request;
  const alone = new Set(routeNamesFor(request).areShown ? modelsWithoutBackup(host.catalog.models) : []);
  const readings = healthReadings(host);
  const [health, speeds, answers, incidents, notes] = await Promise.all([
    readModelHealth(gateway, host),
    readings.speed.get().catch(() => undefined),
    readings.days.get().catch(() => undefined),
    readings.incidents.get().catch(() => undefined),
    readNotes(gateway.modelNoteSources, request),
  ]);
  const states = new Map(health.map((one) => [one.id, one]));
  const names = Map.groupBy(host.catalog.listed, ({ model }) => model);
  const incidentsOf = Map.groupBy(incidents ?? [], ({ model }) => model);
  const timeZone = host.section(service).time_zone;
  const all = lastDays(localTime(new Date(host.now()), timeZone).day, historyDays);
  return host.catalog.models.map((model): ModelReading => {
    const name = model.publicName;
    const counted = answers?.get(name) ?? [];
    const speed = speeds?.get(name);
    return {
      model,
      abilities: readAbilities(gateway, model),
      health: states.get(name),
      aliases: (names.get(model) ?? []).filter((one) => one.name !== name).map((one) => one.name),
      notes: (notes.get(name) ?? []).map(({ text }) => text),
      isAlone: alone.has(model),
      firstTokenMs: speed?.weekMs,
      tokensPerSecond: speed?.tokensPerSecond,
      uptime: (days) => answeredOn(all.slice(-days), counted),
      history: (days) =>
        answers === undefined
          ? []
          : describeDays(all.slice(-days), counted, incidentsOf.get(name) ?? [], timeZone).days,
    };
  });
}

const values: Readonly<Record<SortColumn, (reading: ModelReading) => number | string | undefined>> = {
  name: ({ model }) => model.publicName,
  context: ({ abilities }) => abilities.maxInputTokens,
  output: ({ abilities }) => abilities.maxOutputTokens,
  first: ({ firstTokenMs }) => firstTokenMs,
  speed: ({ tokensPerSecond }) => tokensPerSecond,
  uptime: (reading) => reading.uptime(listedDays),
};

/** In the order of the query; models without the figure come last in both directions. */
export function sortReadings(readings: readonly ModelReading[], { sort }: Pick<ModelsQuery, 'sort'>): ModelReading[] {
  if (sort === undefined) return [...readings];
  const sign = sort.direction === 'ascending' ? 1 : -1;
  return readings
    .map((reading) => ({ reading, value: values[sort.column](reading) }))
    .toSorted((one, other) => {
      if (one.value === undefined || other.value === undefined)
        return Number(one.value === undefined) - Number(other.value === undefined);
      return sign * compare(one.value, other.value);
    })
    .map(({ reading }) => reading);
}

function compare(one: number | string, other: number | string): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return String(one).localeCompare(String(other), 'en', { numeric: true });
}

/** True for a model that people find by this filter. */
export function passes({ abilities }: ModelReading, filter: ModelFilter): boolean {
  if (filter === 'long') return (abilities.maxInputTokens ?? 0) >= longContext;
  return bestSupport(abilities, filter) !== 'no';
}
