import type { Localizer } from './page.ts';

/** One page of a list; pages are numbered from 1. */
export interface ListPage {
  readonly number: number;
  readonly count: number;
}

const entriesPerPage = 100; // few enough that no page blocks the event loop for long

/** Returns the requested page, or the nearest one in a list of `total` entries. */
export function clampPage(requested: number, total: number): ListPage {
  const count = Math.max(1, Math.ceil(total / entriesPerPage));
  return { number: Math.min(Math.max(1, requested), count), count };
}

export function sliceEntries<Entry>({ number }: ListPage, entries: readonly Entry[]): Entry[] {
  return entries.slice((number - 1) * entriesPerPage, number * entriesPerPage);
}

/** Describes the links to the other pages, if any. `rangeKey` names a text with `from`, `to` and `all`. */
export function describePages(
  { number, count }: ListPage,
  total: number,
  rangeKey: string,
  pathOf: (number: number) => string,
  { t, format }: Localizer,
) {
  if (count === 1) return undefined;
  const from = format.number((number - 1) * entriesPerPage + 1);
  const to = format.number(Math.min(number * entriesPerPage, total));
  return {
    shown: t(rangeKey, { from, to, all: format.number(total) }),
    previous: number > 1 ? pathOf(number - 1) : '',
    next: number < count ? pathOf(number + 1) : '',
  };
}
