import type { PageRequest } from './page.ts';

/** A page of a list, numbered from 1. */
export interface ListPage {
  readonly number: number;
  readonly count: number;
}

/** Entries per page: few enough that no page blocks the event loop for long. */
const entriesPerPage = 100;

/**
 * Returns the nearest page that exists.
 *
 * @param all number of entries
 */
export function pageNear(requested: number, all: number): ListPage {
  const count = Math.max(1, Math.ceil(all / entriesPerPage));
  return { number: Math.min(Math.max(1, requested), count), count };
}

/** Returns the entries of a page. */
export function entriesOn<Entry>({ number }: ListPage, entries: readonly Entry[]): Entry[] {
  return entries.slice((number - 1) * entriesPerPage, number * entriesPerPage);
}

/**
 * Describes the links to the other pages; undefined if there is only one page.
 *
 * @param shown key of the text that says which entries are shown, with `from`, `to` and `all`
 */
export function describePages(
  { number, count }: ListPage,
  all: number,
  shown: string,
  pathOf: (number: number) => string,
  { t, format }: Pick<PageRequest, 't' | 'format'>,
) {
  if (count === 1) return undefined;
  const from = format.number((number - 1) * entriesPerPage + 1);
  const to = format.number(Math.min(number * entriesPerPage, all));
  return {
    shown: t(shown, { from, to, all: format.number(all) }),
    previous: number > 1 ? pathOf(number - 1) : '',
    next: number < count ? pathOf(number + 1) : '',
  };
}
