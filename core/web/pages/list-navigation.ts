import type { Host } from '#core/gateway/host/host.ts';
import type { Navigation, Page, Role } from './page.ts';

/** An entry of the layout, in the reader's language. */
export interface NavigationEntry {
  readonly path: string;
  readonly label: string;
  readonly icon: string;
  readonly isCurrent: boolean;
  readonly isInBar: boolean;
}

interface ListedEntry extends Navigation {
  readonly path: string;
}

/** Returns a page's entries; none if the page is not listed. */
export function listEntries({ path, navigation = [] }: Pick<Page, 'path' | 'navigation'>): ListedEntry[] {
  const entries = [navigation].flat() as readonly (string | Navigation)[];
  return entries.map((entry) => ({ path, ...(typeof entry === 'string' ? { label: entry } : entry) }));
}

/** Lists a role's entries in one place of the layout, in order. The entry with the longest prefix of `current` is marked. */
export function listNavigation(
  pages: readonly Page[],
  { role, place }: { role: Role; place: 'main' | 'menu' },
  current: string,
  t: (key: string) => string,
): NavigationEntry[] {
  const entries = sortEntries(
    pages
      .filter((page) => page.role === role)
      .flatMap(listEntries)
      .filter((entry) => (entry.place ?? 'main') === place),
  );
  const currentEntry = findNearestEntry(entries, pages, current);
  return entries.map((entry) => ({
    path: entry.path,
    label: t(entry.label),
    icon: entry.icon ?? '',
    isCurrent: entry === currentEntry,
    isInBar: entry.isInBar !== false,
  }));
}

export function listLinksWithin(
  { pages }: { readonly pages: readonly Page[] },
  path: string,
  t: (key: string) => string,
  host: Host,
) {
  return pages
    .filter((page) => page.within === path && (page.isListed?.(host) ?? true))
    .map((page) => ({ path: page.path, label: t(page.title) }));
}

/** Returns a link to the page at this path; none if no plugin registers one. */
export function listLinksTo({ pages }: { readonly pages: readonly Page[] }, path: string, t: (key: string) => string) {
  return pages.filter((page) => page.path === path).map(({ title }) => ({ path, label: t(title) }));
}

/** Each entry is followed by the entries that name it in `after`. Circular references come last. */
function sortEntries(entries: readonly ListedEntry[]): ListedEntry[] {
  const sorted = entries.toSorted((first, second) => (first.order ?? 100) - (second.order ?? 100));
  const placedEntries = new Set<ListedEntry>();
  const placeWithFollowers = (entry: ListedEntry) => {
    if (placedEntries.has(entry)) return;
    placedEntries.add(entry);
    sorted.filter(({ after }) => after === entry.path).forEach(placeWithFollowers);
  };
  sorted.filter(({ after }) => !sorted.some(({ path }) => path === after)).forEach(placeWithFollowers);
  sorted.forEach(placeWithFollowers);
  return [...placedEntries];
}

function findNearestEntry(
  entries: readonly ListedEntry[],
  pages: readonly Page[],
  current: string,
): ListedEntry | undefined {
  return entries
    .flatMap((entry) => {
      const childPaths = pages.filter(({ within }) => within === entry.path).map(({ path }) => path);
      return [entry.path, ...(entry.covers ?? []), ...childPaths].map((path) => ({ entry, path }));
    })
    .filter(({ path }) => current === path || current.startsWith(`${path}/`))
    .toSorted((first, second) => second.path.length - first.path.length)[0]?.entry;
}
