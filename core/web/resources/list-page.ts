import { uuid } from '#core/platform/database/database.ts';
import { isDay } from '#core/platform/timing/time-zone.ts';
import { readAccountNames } from '../pages/account-name.ts';
import { linksTo, linksWithin } from '../pages/list-navigation.ts';
import type { Navigation, Page } from '../pages/page.ts';
import { fieldTable } from './field.ts';
import type { OperatorResource } from './resource.ts';

const pageSize = 50;
/** Characters. */
const maxSearchLength = 200;

/** The page that searches a resource. Texts are given by their keys. */
interface ListPage extends Pick<Page, 'path' | 'title' | 'within'> {
  /** Left out for a page within another one. */
  readonly navigation?: Omit<Navigation, 'label'>;
  /** Values of the select box, whose texts are `TEXTS.VALUE`; `choose` returns the query of each, by default its state. */
  readonly choices: readonly string[];
  readonly texts: string;
  choose?(choice: string): object;
  /** What the search takes, and what is shown if there is nothing at all. */
  readonly search: string;
  readonly none: readonly [title: string, text: string];
  /** Label of the choice of a day, whose problems are listed first. */
  readonly day?: string;
}

/**
 * Describes the page of a resource: its table, filtered by words and a choice, newest first. It links to the page that it is within, or to
 * those within it.
 */
export function listPage(
  gateway: { readonly pages: readonly Page[] },
  resource: OperatorResource,
  { path, title, within, choices, texts, ...more }: ListPage,
): Page {
  const { choose = (state) => ({ state }), search, none, navigation, day: dayLabel } = more;
  const { name, view } = resource;
  return {
    path,
    role: 'operator',
    title,
    ...(within === undefined ? { navigation: { label: title, ...navigation } } : { within }),
    template: 'parts/list.eta',
    async show({ host, query, t, format, language }) {
      const words = (query['q'] ?? '').trim().slice(0, maxSearchLength);
      const state = choices.find((choice) => choice === query['state']) ?? '';
      const day = dayLabel !== undefined && isDay(query['day'] ?? '') ? (query['day'] ?? '') : '';
      const after = uuid.test(query['after'] ?? '') ? query['after'] : undefined;
      const listQuery = {
        ...(words !== '' && { words }),
        ...(state !== '' && choose(state)),
        ...(day !== '' && { day, wrong_first: true }),
        ...(after !== undefined && { after }),
      };
      const found = await resource.list(host, listQuery, { limit: pageSize, timeZone: format.timeZone });
      const persons = view.page.filter(({ type }) => type === 'person');
      const ids = found.entries.flatMap((entry) => persons.map(({ value }) => String(value(entry, host.now()))));
      const names = persons.length === 0 ? new Map<string, string>() : await readAccountNames(host.database, ids, t);
      const reader = { host, t, format, language, names };
      return {
        path,
        heading: t(title),
        links: within === undefined ? linksWithin(gateway, path, t, host) : linksTo(gateway, within, t),
        none: { title: t(none[0]), text: t(none[1]) },
        searchLabel: t(search),
        words,
        state,
        ...(dayLabel !== undefined && { day: { label: t(dayLabel), value: day } }),
        choices: choices.map((value) => ({ value, label: t(`${texts}.${value}`) })),
        table: fieldTable(reader, `${name}s`, title, found.entries, view.page),
        next: typeof found.next === 'string' ? nextPath(path, { q: words, state, day, after: found.next }) : '',
        isFirst: after === undefined,
      };
    },
  };
}

/** Path of the next page, with the current search. */
function nextPath(path: string, query: Readonly<Record<string, string>>): string {
  const filled = Object.entries(query).filter(([, value]) => value !== '');
  return `${path}?${new URLSearchParams(filled).toString()}`;
}
