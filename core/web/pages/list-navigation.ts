import type { Host } from '#core/gateway/host/host.ts';
import type { Navigation, Page, Role } from './page.ts';

/** An entry ready to be printed. */
export interface NavigationEntry {
  readonly path: string;
  readonly label: string;
  readonly icon: string;
  readonly isCurrent: boolean;
  readonly isInBar: boolean;
}

interface Listed extends Navigation {
  readonly path: string;
}

/** Returns the entries of a page; none for one that is not listed. */
export function navigationOf({ path, navigation = [] }: Pick<Page, 'path' | 'navigation'>): Listed[] {
  const entries = [navigation].flat() as readonly (string | Navigation)[];
  return entries.map((entry) => ({ path, ...(typeof entry === 'string' ? { label: entry } : entry) }));
}

/**
 * Lists the entries that the layout of a role lists at one place, in order.
 *
 * @param current path of the page that is shown; the entry whose path is the longest prefix of it is marked
 */
export function listNavigation(
  pages: readonly Page[],
  { role, place }: { role: Role; place: 'main' | 'menu' },
  current: string,
  t: (key: string) => string,
): NavigationEntry[] {
  const entries = sortEntries(
    pages
      .filter((page) => page.role === role)
      .flatMap(navigationOf)
      .filter((entry) => (entry.place ?? 'main') === place),
  );
  const marked = nearest(entries, pages, current);
  return entries.map((entry) => ({
    path: entry.path,
    label: t(entry.label),
    icon: entry.icon ?? '',
    isCurrent: entry === marked,
    isInBar: entry.isInBar !== false,
  }));
}

/** Returns the links to the pages within a listed one. */
export function linksWithin(
  { pages }: { readonly pages: readonly Page[] },
  path: string,
  t: (key: string) => string,
  host: Host,
) {
  return pages
    .filter((page) => page.within === path && (page.isListed?.(host) ?? true))
    .map((page) => ({ path: page.path, label: t(page.title) }));
}

/** Links to the pages with this path. */
export function linksTo({ pages }: { readonly pages: readonly Page[] }, path: string, t: (key: string) => string) {
  return pages.filter((page) => page.path === path).map(({ title }) => ({ path, label: t(title) }));
}

/** By `order`, each followed by those that name it in `after`. Entries that name each other come last. */
function sortEntries(entries: readonly Listed[]): Listed[] {
  const sorted = entries.toSorted((first, second) => (first.order ?? 100) - (second.order ?? 100));
  const placed = new Set<Listed>();
  const place = (entry: Listed) => {
    if (placed.has(entry)) return;
    placed.add(entry);
    sorted.filter(({ after }) => after === entry.path).forEach(place);
  };
  sorted.filter(({ after }) => !sorted.some(({ path }) => path === after)).forEach(place);
  sorted.forEach(place);
  return [...placed];
}

function nearest(entries: readonly Listed[], pages: readonly Page[], current: string): Listed | undefined {
  return entries
    .flatMap((entry) => {
      const inside = pages.filter(({ within }) => within === entry.path).map(({ path }) => path);
      return [entry.path, ...(entry.covers ?? []), ...inside].map((path) => ({ entry, path }));
    })
    .filter(({ path }) => current === path || current.startsWith(`${path}/`))
    .toSorted((first, second) => second.path.length - first.path.length)[0]?.entry;
}
