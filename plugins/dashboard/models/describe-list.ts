import { modelKinds } from '#core/config/catalog/kinds.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { describePages, entriesOn, pageNear } from '#core/web/pages/pagination.ts';
import { canDo, describeRow, speaksOf } from './describe-row.ts';
import {
  addressOf,
  everyModel,
  matches,
  modelFilters,
  type ModelsQuery,
  type SortColumn,
  sortColumns,
  turn,
} from './query.ts';
import { type ModelReading, passes, sortReadings } from './read-models.ts';

type Reader = Pick<PageRequest, 't' | 'format'>;

/**
 * Describes the part of the page below the search.
 *
 * @param now epoch ms
 */
export function describeList(readings: readonly ModelReading[], query: ModelsQuery, reader: Reader, now: number) {
  const { t, format } = reader;
  const matching = readings.filter((reading) => isFound(reading, query.search, t));
  const found = matching
    .filter(({ model }) => query.kind === undefined || model.kind === query.kind)
    .filter((reading) => query.filters.every((filter) => passes(reading, filter)));
  const page = pageNear(query.page, found.length);
  const rows = entriesOn(page, sortReadings(found, query));
  return {
    rows: rows.map((reading, index) => describeRow(reading, index + 1, reader, now)),
    kinds: describeKinds(readings, matching, query, reader),
    filters: describeFilters(readings, query, t),
    columns: describeColumns(query, t),
    count: t('models.count', { count: found.length }),
    pages: describePages(page, found.length, 'models.shown', (number) => addressOf({ ...query, page: number }), reader),
    asOf: t('models.as_of', { time: format.clock(new Date(now)).text }),
    unmatched: {
      title: t('models.unmatched'),
      text: t('models.unmatched_text'),
      action: { path: addressOf({ ...everyModel, sort: query.sort }), label: t('models.clear') },
    },
  };
}

function isFound({ model, abilities, aliases }: ModelReading, search: string, t: Reader['t']): boolean {
  const texts = [model.publicName, model.displayName, t(`models.kind.${model.kind}`), ...aliases];
  return matches(search, [...texts, ...speaksOf(abilities), ...canDo(model, abilities, t)]);
}

/** One chip for each kind of model in the catalog; none if there is only one kind. */
function describeKinds(
  all: readonly ModelReading[],
  matching: readonly ModelReading[],
  query: ModelsQuery,
  { t, format }: Reader,
) {
  const present = modelKinds.filter((kind) => all.some(({ model }) => model.kind === kind));
  if (present.length < 2) return [];
  return [undefined, ...present].map((kind) => ({
    id: `kind-${kind ?? 'all'}`,
    label: t(`models.kind.${kind ?? 'all'}`),
    count: format.number(matching.filter(({ model }) => kind === undefined || model.kind === kind).length),
    isCurrent: query.kind === kind,
    path: addressOf({ ...query, kind, page: 1 }),
  }));
}

/** Switches for the filters that at least one model passes. */
function describeFilters(all: readonly ModelReading[], query: ModelsQuery, t: Reader['t']) {
  return modelFilters
    .filter((filter) => query.filters.includes(filter) || all.some((reading) => passes(reading, filter)))
    .map((filter) => {
      const isCurrent = query.filters.includes(filter);
      const filters = isCurrent ? query.filters.filter((active) => active !== filter) : [...query.filters, filter];
      return {
        id: `filter-${filter}`,
        label: t(`models.filter.${filter}`),
        isCurrent,
        path: addressOf({ ...query, filters, page: 1 }),
      };
    });
}

/** Sortable columns: the second click reverses the direction, the third ends sorting. */
function describeColumns(query: ModelsQuery, t: Reader['t']) {
  const { sort } = query;
  const columns = Object.entries(sortColumns).map(([name, direction]) => {
    const column = name as SortColumn;
    const isCurrent = sort?.column === column;
    const next = !isCurrent
      ? { column, direction }
      : sort.direction === direction
        ? { column, direction: turn(direction) }
        : undefined;
    return [
      column,
      {
        id: `sort-${column}`,
        label: t(`models.column.${column}`),
        sorted: isCurrent ? sort.direction : '',
        arrow: !isCurrent ? '' : sort.direction === 'ascending' ? '↑' : '↓',
        path: addressOf({ ...query, sort: next, page: 1 }),
      },
    ] as const;
  });
  return Object.fromEntries(columns) as Record<SortColumn, (typeof columns)[number][1]>;
}
