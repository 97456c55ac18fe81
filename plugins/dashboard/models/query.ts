/** Path of the page. */
export const modelsPath = '/dashboard/models';

/** What the address of the page asks for. */
export interface ModelsQuery {
  /** Words to find; '' for all models. */
  readonly search: string;
  /** Public name of the model whose row is open; '' for none. */
  readonly open: string;
}

/** The most characters of a search that are read. */
const longestSearch = 100;

export function readQuery(query: Readonly<Record<string, string>>): ModelsQuery {
  return { search: (query['search'] ?? '').trim().slice(0, longestSearch), open: query['open'] ?? '' };
}

export function addressOf({ search, open }: ModelsQuery): string {
  const query = new URLSearchParams({ ...(search !== '' && { search }), ...(open !== '' && { open }) }).toString();
  return query === '' ? modelsPath : `${modelsPath}?${query}`;
}

/** True when each word of the search is in one of the texts, in any case. */
export function matches(search: string, texts: readonly string[]): boolean {
  const all = texts.join('\n').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
