import { modelKinds } from '#core/config/catalog/kinds.ts';
import type { Localizer } from '#core/web/pages/page.ts';
import { describePages, sliceEntries, clampPage } from '#core/web/pages/pagination.ts';
import { listCapabilities, describeRow } from './describe-row.ts';
import {
  buildModelsPath,
  unfilteredQuery,
  containsWords,
  modelFilters,
  type ModelsQuery,
  type SortColumn,
  sortColumns,
  reverseDirection,
} from './query.ts';
import { type ModelReading, passesFilter, sortReadings } from './read-models.ts';

export function describeList(readings: readonly ModelReading[], query: ModelsQuery, reader: Localizer, now: number) {
  const { t, format } = reader;
  const matching = readings.filter((reading) => matchesSearch(reading, query.search, t));
  const filteredReadings = matching
    .filter(({ model }) => query.kind === undefined || model.kind === query.kind)
    .filter((reading) => query.filters.every((filter) => passesFilter(reading, filter)));
  const page = clampPage(query.page, filteredReadings.length);
  const rows = sliceEntries(page, sortReadings(filteredReadings, query));
  return {
    rows: rows.map((reading, index) => describeRow(reading, index + 1, reader, now)),
    kinds: describeKinds(readings, matching, query, reader),
    filters: describeFilters(readings, query, t),
    columns: describeColumns(query, t),
    count: t('models.count', { count: filteredReadings.length }),
    pages: describePages(
      page,
      filteredReadings.length,
      'models.shown',
      (number) => buildModelsPath({ ...query, page: number }),
      reader,
    ),
    asOf: t('models.as_of', { time: format.clock(new Date(now)).text }),
    unmatched: {
      title: t('models.unmatched'),
      text: t('models.unmatched_text'),
      action: { path: buildModelsPath({ ...unfilteredQuery, sort: query.sort }), label: t('models.clear') },
    },
  };
}

function matchesSearch({ model, abilities, aliases }: ModelReading, search: string, t: Localizer['t']): boolean {
  const texts = [model.publicName, model.displayName, t(`models.kind.${model.kind}`), ...aliases];
  return containsWords(search, [...texts, ...abilities.vendors, ...listCapabilities(model, abilities, t)]);
}

function describeKinds(
  readings: readonly ModelReading[],
  matching: readonly ModelReading[],
  query: ModelsQuery,
  { t, format }: Localizer,
) {
  const presentKinds = modelKinds.filter((kind) => readings.some(({ model }) => model.kind === kind));
  if (presentKinds.length < 2) return [];
  return [undefined, ...presentKinds].map((kind) => ({
    id: `kind-${kind ?? 'all'}`,
    label: t(`models.kind.${kind ?? 'all'}`),
    count: format.number(matching.filter(({ model }) => kind === undefined || model.kind === kind).length),
    isCurrent: query.kind === kind,
    path: buildModelsPath({ ...query, kind, page: 1 }),
  }));
}

function describeFilters(readings: readonly ModelReading[], query: ModelsQuery, t: Localizer['t']) {
  return modelFilters
    .filter((filter) => query.filters.includes(filter) || readings.some((reading) => passesFilter(reading, filter)))
    .map((filter) => {
      const isCurrent = query.filters.includes(filter);
      const filters = isCurrent ? query.filters.filter((active) => active !== filter) : [...query.filters, filter];
      return {
        id: `filter-${filter}`,
        label: t(`models.filter.${filter}`),
        isCurrent,
        path: buildModelsPath({ ...query, filters, page: 1 }),
      };
    });
}

function describeColumns(query: ModelsQuery, t: Localizer['t']) {
  const { sort } = query;
  const columns = Object.keys(sortColumns).map((name) => {
    const column = name as SortColumn;
    const isCurrent = sort?.column === column;
    return [
      column,
      {
        id: `sort-${column}`,
        label: t(`models.column.${column}`),
        sorted: isCurrent ? sort.direction : '',
        arrow: isCurrent ? arrows[sort.direction] : '',
        path: buildModelsPath({ ...query, sort: chooseNextSort(sort, column), page: 1 }),
      },
    ] as const;
  });
  return Object.fromEntries(columns) as Record<SortColumn, (typeof columns)[number][1]>;
}

const arrows = { ascending: '↑', descending: '↓' } as const;

// A second click reverses the direction, a third one ends sorting.
function chooseNextSort(sort: ModelsQuery['sort'], column: SortColumn): ModelsQuery['sort'] {
  const direction = sortColumns[column];
  if (sort?.column !== column) return { column, direction };
  return sort.direction === direction ? { column, direction: reverseDirection(direction) } : undefined;
}
