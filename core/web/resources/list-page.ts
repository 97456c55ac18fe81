import type { Host } from '#core/gateway/host/host.ts';
import { uuid } from '#core/platform/database/database.ts';
import { isDay } from '#core/platform/timing/time-zone.ts';
import { readAccountNames } from '../pages/account-name.ts';
import type { Navigation, Page, PageRequest } from '../pages/page.ts';
import { fieldTable } from './field.ts';
import type { OperatorResource } from './resource.ts';

const pageSize = 50;
/** Characters of a search. */
const longestWords = 200;

/** The page that searches a resource. Keys are those of texts. */
interface ListPage {
  readonly path: string;
  /** Key. */
  readonly title: string;
  readonly navigation: Omit<Navigation, 'label'>;
  /** Values of the select box, whose texts are `TEXTS.VALUE`, and the query of each; default: its state. */
  readonly choices: readonly string[];
  readonly texts: string;
  choose?(choice: string): object;
  /** Keys: what the search takes, and what is said where there is nothing at all. */
  readonly search: string;
  readonly none: readonly [title: string, text: string];
  /** Key: the label of a day, of which what is wrong comes first. */
  readonly day?: string;
  /** Pages beside it. */
  links(t: PageRequest['t'], host: Host): readonly { readonly path: string; readonly label: string }[];
}

/** Describes the page of a resource: its table, narrowed by words and a choice, the newest first. */
export function listPage(resource: OperatorResource, { path, title, choices, texts, ...more }: ListPage): Page {
  const { choose = (state) => ({ state }), search, none, navigation, day: dayLabel, links } = more;
  const { name, view } = resource;
  return {
    path,
    role: 'operator',
    title,
    navigation: { label: title, ...navigation },
    template: 'parts/list.eta',
    async show({ host, query, t, format, language }) {
      const words = (query['q'] ?? '').trim().slice(0, longestWords);
      const state = choices.find((choice) => choice === query['state']) ?? '';
      const day = dayLabel !== undefined && isDay(query['day'] ?? '') ? (query['day'] ?? '') : '';
      const after = uuid.test(query['after'] ?? '') ? query['after'] : undefined;
      const asked = {
        ...(words !== '' && { words }),
        ...(state !== '' && choose(state)),
        ...(day !== '' && { day, wrong_first: true }),
        ...(after !== undefined && { after }),
      };
      const found = await resource.list(host, asked, { limit: pageSize, timeZone: format.timeZone });
      const persons = view.page.filter(({ type }) => type === 'person');
      const ids = found.entries.flatMap((entry) => persons.map(({ value }) => String(value(entry, host.now()))));
      const names = persons.length === 0 ? new Map<string, string>() : await readAccountNames(host.database, ids, t);
      const reader = { host, t, format, language, names };
      return {
        path,
        heading: t(title),
        links: links(t, host),
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

/** The address of the next page, with what was searched for. */
function nextPath(path: string, query: Readonly<Record<string, string>>): string {
  const filled = Object.entries(query).filter(([, value]) => value !== '');
  return `${path}?${new URLSearchParams(filled).toString()}`;
}
