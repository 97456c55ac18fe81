import { type ModelKind, modelKinds } from '#core/config/catalog/kinds.ts';

/** Path of the page. */
export const modelsPath = '/dashboard/models';

/** Path of the page of one model. Its slashes stay: proxies decode the ones that are encoded. @param name public name */
export function modelPath(name: string): string {
  return `${modelsPath}/${name.split('/').map(encodeURIComponent).join('/')}`;
}

/** Filters of models: image input, reasoning, a long context. */
export const modelFilters = ['images', 'reasoning', 'long'] as const;
export type ModelFilter = (typeof modelFilters)[number];

/** Columns by which the list is sorted, with the direction of the first click: the better values first. */
export const sortColumns = {
  name: 'ascending',
  context: 'descending',
  output: 'descending',
  first: 'ascending',
  speed: 'descending',
  uptime: 'descending',
} as const;
export type SortColumn = keyof typeof sortColumns;
type SortDirection = 'ascending' | 'descending';

/** Query of the page's address. */
export interface ModelsQuery {
  /** Words to find; '' for all models. */
  readonly search: string;
  readonly kind: ModelKind | undefined;
  readonly filters: readonly ModelFilter[];
  /** Undefined for the order of gateway.yaml. */
  readonly sort: { readonly column: SortColumn; readonly direction: SortDirection } | undefined;
  readonly page: number; // from 1
}

export const everyModel: ModelsQuery = { search: '', kind: undefined, filters: [], sort: undefined, page: 1 };

/** The most characters of a search that are read. */
const longestSearch = 100;

export function readQuery(query: Readonly<Record<string, string>>): ModelsQuery {
  const chosen = new Set((query['can'] ?? '').split(','));
  return {
    search: (query['search'] ?? '').trim().slice(0, longestSearch),
    kind: modelKinds.find((kind) => kind === query['kind']),
    filters: modelFilters.filter((filter) => chosen.has(filter)),
    sort: readSort(query['sort'] ?? ''),
    page: /^[1-9]\d{0,5}$/.test(query['page'] ?? '') ? Number(query['page']) : 1,
  };
}

/** `speed`, or `-speed` for the other direction. */
function readSort(text: string): ModelsQuery['sort'] {
  const isTurned = text.startsWith('-');
  const name = isTurned ? text.slice(1) : text;
  if (!Object.hasOwn(sortColumns, name)) return undefined;
  const column = name as SortColumn;
  return { column, direction: isTurned ? turn(sortColumns[column]) : sortColumns[column] };
}

export function turn(direction: SortDirection): SortDirection {
  return direction === 'ascending' ? 'descending' : 'ascending';
}

/** The query as fields of a form or parameters; what is left out is the default. */
export function writeQuery({ search, kind, filters, sort, page }: ModelsQuery): Record<string, string> {
  return {
    ...(search !== '' && { search }),
    ...(kind !== undefined && { kind }),
    ...(filters.length > 0 && { can: filters.join(',') }),
    ...(sort !== undefined && {
      sort: `${sort.direction === sortColumns[sort.column] ? '' : '-'}${sort.column}`,
    }),
    ...(page > 1 && { page: String(page) }),
  };
}

export function addressOf(query: ModelsQuery): string {
  const text = new URLSearchParams(writeQuery(query)).toString();
  return text === '' ? modelsPath : `${modelsPath}?${text}`;
}

/** True when each word of the search is in one of the texts, in any case. */
export function matches(search: string, texts: readonly string[]): boolean {
  const all = texts.join('\n').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
