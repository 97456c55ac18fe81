import { type ModelKind, modelKinds } from '#core/config/catalog/kinds.ts';

export const modelsPath = '/dashboard/models';

export function buildModelPath(name: string): string {
  // Slashes in the name are not encoded, because proxies decode them.
  return `${modelsPath}/${name.split('/').map(encodeURIComponent).join('/')}`;
}

export const modelFilters = ['images', 'reasoning', 'long'] as const;
export type ModelFilter = (typeof modelFilters)[number];

/** Direction of the first click, which sorts better values first. */
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

export interface ModelsQuery {
  readonly search: string; // '' for all models
  readonly kind: ModelKind | undefined;
  readonly filters: readonly ModelFilter[];
  /** Undefined for the order of gateway.yaml. */
  readonly sort: { readonly column: SortColumn; readonly direction: SortDirection } | undefined;
  readonly page: number; // from 1
}

export const unfilteredQuery: ModelsQuery = { search: '', kind: undefined, filters: [], sort: undefined, page: 1 };

const maxSearchLength = 100; // characters

/** Invalid parameters are ignored. */
export function parseQuery(query: Readonly<Record<string, string>>): ModelsQuery {
  const filterNames = new Set((query['can'] ?? '').split(','));
  return {
    search: (query['search'] ?? '').trim().slice(0, maxSearchLength),
    kind: modelKinds.find((kind) => kind === query['kind']),
    filters: modelFilters.filter((filter) => filterNames.has(filter)),
    sort: parseSort(query['sort'] ?? ''),
    page: /^[1-9]\d{0,5}$/.test(query['page'] ?? '') ? Number(query['page']) : 1,
  };
}

function parseSort(text: string): ModelsQuery['sort'] {
  // Values are `speed`, or `-speed` for the opposite direction.
  const isReversed = text.startsWith('-');
  const name = isReversed ? text.slice(1) : text;
  if (!Object.hasOwn(sortColumns, name)) return undefined;
  const column = name as SortColumn;
  return { column, direction: isReversed ? reverseDirection(sortColumns[column]) : sortColumns[column] };
}

export function reverseDirection(direction: SortDirection): SortDirection {
  return direction === 'ascending' ? 'descending' : 'ascending';
}

export function encodeQuery({ search, kind, filters, sort, page }: ModelsQuery): Record<string, string> {
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

export function buildModelsPath(query: ModelsQuery): string {
  const text = new URLSearchParams(encodeQuery(query)).toString();
  return text === '' ? modelsPath : `${modelsPath}?${text}`;
}

export function containsWords(search: string, texts: readonly string[]): boolean {
  const joinedTexts = texts.join('\n').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => joinedTexts.includes(word));
}
