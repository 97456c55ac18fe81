import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import type { Page, PageRequest } from '../pages/page.ts';
import { type TableSection, omitEmptySections } from '../pages/table.ts';
import { describeActionTable } from '../resources/action-table.ts';
import { readSubjectNames } from '../resources/describe-action.ts';
import { type EntryView, fieldTable, withPersonNames } from '../resources/field.ts';
import type { OperatorResource } from '../resources/resource.ts';
import { describeFields } from './action-fields.ts';
import { type ActionForm, createActionForm } from './action-page.ts';

const maxEntries = 200;
const maxActions = 50;

/** Links between views of a page. */
interface Segments {
  readonly label: string;
  readonly links: readonly { readonly path: string; readonly label: string; readonly isCurrent: boolean }[];
}

/** A table of entries, with the names of their accounts. */
interface EntrySection {
  /** Text key; default: the title of the page. */
  readonly title?: string;
  readonly entries: readonly unknown[];
  /** Default: the view of the page's resource. */
  readonly view?: Pick<EntryView<unknown>, 'page'>;
  /** Key of a sentence below the table. */
  readonly note?: string;
}

interface TablesContent {
  readonly lead?: string;
  /** Sentences below the lead. */
  readonly notes?: readonly string[];
  /** Tiles above the tables, for `parts/tile.eta`. */
  readonly tiles?: readonly object[];
  /** Tables; empty ones are left out. A table that has the page's title needs no heading. Default: the entries of the page's resource. */
  readonly sections?: readonly (EntrySection | TableSection)[];
  /** Controls next to the heading that group or filter the tables. */
  readonly segments?: readonly Segments[];
  /** A sentence below the tables, shown if there are any tables. */
  readonly below?: string;
  /** Message above the tables, in addition to that of a completed action. */
  readonly flash?: { readonly kind: 'info' | 'warn'; readonly title: string; readonly text?: string };
}

/** The form of an action on a page with tables. Its heading and its button are the text `operator.act.NAME`. */
interface TablesForm extends Omit<ActionForm, 'path' | 'pathMembers' | 'sent'> {
  readonly action: ActionKind;
}

interface TablesPage extends Pick<Page, 'path' | 'title' | 'isListed'> {
  /** The listed page that it belongs to. All labels here are keys of texts. */
  readonly back: { readonly path: string; readonly label: string };
  /** Shown if all tables of entries are empty; on a page without one, if all tables are. */
  readonly none: readonly [title: string, text: string];
  readonly lead?: string;
  /** Link next to the heading. */
  readonly action?: { readonly path: string; readonly label: string };
  /** Resource that the page lists. */
  readonly resource?: OperatorResource;
  /** Form below the tables. */
  readonly form?: TablesForm;
  /** Where the actions of the last table, below the form, are recorded (`ActionSubject.recordedAt`); default: no such table. */
  readonly record?: string;
  /** Reads what the settings above do not say. */
  read?(request: PageRequest): Promise<TablesContent>;
}

/** Creates an operator page with tables below each other, the form of an action, and the confirmation of a completed action. */
export function tablesPage(settings: TablesPage): Page {
  const { back, none, lead = '', action, resource, form, record, read, ...page } = settings;
  return {
    ...page,
    within: back.path,
    role: 'operator',
    template: 'parts/tables.eta',
    async show(request) {
      const { t, host, format } = request;
      const { below = '', sections, tiles = [], ...content } = (await read?.(request)) ?? {};
      const { timeZone } = format;
      const shown = sections ?? [(await resource?.list(host, {}, { limit: maxEntries, timeZone })) ?? { entries: [] }];
      const listed = shown.filter((section) => 'entries' in section);
      const counted = listed.length > 0 ? listed : shown;
      const isEmpty =
        tiles.length === 0 &&
        counted.every((section) => ('entries' in section ? section.entries : section.rows).length === 0);
      const describeSection = async (section: EntrySection | TableSection) => {
        if (!('entries' in section)) return section;
        const { title = page.title, entries, view = resource?.view, note } = section;
        const fields = view?.page ?? [];
        const table = fieldTable(await withPersonNames(request, entries, fields), title, title, entries, fields);
        return note === undefined ? table : { ...table, note: t(note) };
      };
      const actions =
        record === undefined ? [] : await listActions(host.database, { subject: record, limit: maxActions });
      const reader = { ...request, names: await readSubjectNames(request, actions) };
      return {
        lead: lead === '' ? '' : t(lead),
        notes: [],
        segments: [],
        flash: undefined,
        ...content,
        tiles,
        back: { path: back.path, label: t(back.label) },
        heading: t(page.title),
        action: action && { path: action.path, label: t(action.label) },
        below: isEmpty ? '' : below,
        none: isEmpty ? { title: t(none[0]), text: t(none[1]) } : undefined,
        sections: omitEmptySections(await Promise.all(shown.map(describeSection))),
        record: omitEmptySections([describeActionTable(actions, reader)]),
        act: form && (await describeForm(form, request)),
      };
    },
    ...(form !== undefined && {
      forms: [createActionForm(form.action, { find: () => ({ id: '', path: page.path }), ...form })],
    }),
  };
}

async function describeForm({ action, find }: TablesForm, request: PageRequest) {
  const subject = await find?.(request, request.form.values);
  return {
    label: request.t(`operator.act.${action.name}`),
    isDanger: action.isDanger === true,
    back: '',
    sent: [],
    rows: describeFields(request, action, subject?.fields),
  };
}
