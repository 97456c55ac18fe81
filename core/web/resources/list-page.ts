import { uuid } from '#core/platform/database/database.ts';
import { isDay } from '#core/platform/timing/time-zone.ts';
import { listLinksTo, listLinksWithin } from '../pages/list-navigation.ts';
import type { Navigation, Page } from '../pages/page.ts';
import { fieldTable, withPersonNames } from './field.ts';
import type { OperatorResource } from './resource.ts';

const pageSize = 50;
const maxSearchLength = 200;

/** Settings for a search page. Texts are text keys. */
interface ListPage extends Pick<Page, 'path' | 'title' | 'within'> {
  /** Omit it if the page is below another one. */
  readonly navigation?: Omit<Navigation, 'label'>;
  /** Values in the select box; their texts are `TEXTS.VALUE`. `choose` returns the query for a value; default: filters by state. */
  readonly choices: readonly string[];
  readonly texts: string;
  choose?(choice: string): object;
  /** Label of the search field. */
  readonly search: string;
  /** Shown if the list is empty. */
  readonly none: readonly [title: string, text: string];
  /** Label of the date field; if a day is chosen, its problems are listed first. */
  readonly day?: string;
}

/**
 * Creates a search page for a resource: its table, newest first, filtered by words and a choice. The page links to its parent page or, if
 * it has none, to the pages below it.
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
    async show(request) {
      const { host, query, t, format } = request;
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
      const result = await resource.list(host, listQuery, { limit: pageSize, timeZone: format.timeZone });
      const reader = await withPersonNames(request, result.entries, view.page);
      return {
        path,
        heading: t(title),
        links: within === undefined ? listLinksWithin(gateway, path, t, host) : listLinksTo(gateway, within, t),
        none: { title: t(none[0]), text: t(none[1]) },
        searchLabel: t(search),
        words,
        state,
        ...(dayLabel !== undefined && { day: { label: t(dayLabel), value: day } }),
        choices: choices.map((value) => ({ value, label: t(`${texts}.${value}`) })),
        table: fieldTable(reader, `${name}s`, title, result.entries, view.page),
        next: typeof result.next === 'string' ? buildNextPath(path, { q: words, state, day, after: result.next }) : '',
        isFirst: after === undefined,
      };
    },
  };
}

function buildNextPath(path: string, query: Readonly<Record<string, string>>): string {
  const parameters = Object.entries(query).filter(([, value]) => value !== '');
  return `${path}?${new URLSearchParams(parameters).toString()}`;
}
