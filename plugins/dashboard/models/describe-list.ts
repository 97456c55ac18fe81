import { modelKinds } from '#core/config/catalog/kinds.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
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

const modelsPerPage = 100;

/** The part of the page below the search, ready to be printed. @param now epoch ms */
export function describeList(readings: readonly ModelReading[], query: ModelsQuery, reader: Reader, now: number) {
  const { t, format } = reader;
  const named = readings.filter((reading) => isFound(reading, query.search, t));
  const found = named
    .filter(({ model }) => query.kind === undefined || model.kind === query.kind)
    .filter((reading) => query.filters.every((filter) => passes(reading, filter)));
  const count = Math.max(1, Math.ceil(found.length / modelsPerPage));
  const page = Math.min(query.page, count);
  const first = (page - 1) * modelsPerPage;
  const rows = sortReadings(found, query).slice(first, first + modelsPerPage);
  return {
    rows: rows.map((reading, index) => describeRow(reading, index + 1, reader, now)),
    kinds: describeKinds(readings, named, query, reader),
    filters: describeFilters(readings, query, t),
    columns: describeColumns(query, t),
    count: t('models.count', { count: found.length }),
    pages:
      count > 1
        ? describePages({ page, count, first, rows: rows.length, all: found.length }, query, reader)
        : undefined,
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

/** One chip for each kind of the catalog; none where all are of one. */
function describeKinds(
  all: readonly ModelReading[],
  named: readonly ModelReading[],
  query: ModelsQuery,
  { t, format }: Reader,
) {
  const present = modelKinds.filter((kind) => all.some(({ model }) => model.kind === kind));
  if (present.length < 2) return [];
  return [undefined, ...present].map((kind) => ({
    id: `kind-${kind ?? 'all'}`,
    label: t(`models.kind.${kind ?? 'all'}`),
    count: format.number(named.filter(({ model }) => kind === undefined || model.kind === kind).length),
    isCurrent: query.kind === kind,
    path: addressOf({ ...query, kind, page: 1 }),
  }));
}

/** Filters that some model passes. Each is turned on and off. */
function describeFilters(all: readonly ModelReading[], query: ModelsQuery, t: Reader['t']) {
  return modelFilters
    .filter((filter) => query.filters.includes(filter) || all.some((reading) => passes(reading, filter)))
    .map((filter) => {
      const isCurrent = query.filters.includes(filter);
      const filters = isCurrent ? query.filters.filter((one) => one !== filter) : [...query.filters, filter];
      return {
        id: `filter-${filter}`,
        label: t(`models.filter.${filter}`),
        isCurrent,
        path: addressOf({ ...query, filters, page: 1 }),
      };
    });
}

/** The columns that can be sorted: a second click turns the direction around, a third one ends it. */
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

interface ShownPage {
  readonly page: number;
  readonly count: number;
  readonly first: number;
  readonly rows: number;
  readonly all: number;
}

function describePages({ page, count, first, rows, all }: ShownPage, query: ModelsQuery, { t, format }: Reader) {
  const [from, to, total] = [first + 1, first + rows, all].map((number) => format.number(number));
  return {
    shown: t('models.shown', { from: from ?? '', to: to ?? '', all: total ?? '' }),
    previous: page > 1 ? addressOf({ ...query, page: page - 1 }) : '',
    next: page < count ? addressOf({ ...query, page: page + 1 }) : '',
  };
}
