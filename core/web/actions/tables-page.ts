import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import type { Page, PageRequest } from '../pages/page.ts';
import { clampPage, describePages, sliceEntries } from '../pages/pagination.ts';
import { type TableSection, omitEmptySections } from '../pages/table.ts';
import { describeActionTable } from '../resources/action-table.ts';
import { readSubjectNames } from '../resources/describe-action.ts';
import { type EntryView, fieldTable, withPersonNames } from '../resources/field.ts';
import type { OperatorResource } from '../resources/resource.ts';
import { describeFields } from './action-fields.ts';
import { type ActionForm, createActionForm } from './action-page.ts';

const pageSize = 100; // entries of a resource with a cursor
const maxActions = 50;
const maxEntries = 10_000; // read at once from a resource without a cursor; a plugin may use this limit in its SQL

interface Segments {
  readonly label: string;
  readonly links: readonly { readonly path: string; readonly label: string; readonly isCurrent: boolean }[];
}

/** A long table is divided into pages. */
interface EntrySection {
  /** Text key; default: the page's title. */
  readonly title?: string;
  /** All entries. Default: the entries of the page's resource that match `query`. */
  readonly entries?: readonly unknown[];
  readonly query?: object;
  /** Default: the view of the page's resource. */
  readonly view?: Pick<EntryView<unknown>, 'page'>;
  /** Text key for a sentence below the table. */
  readonly note?: string;
}

type Section = EntrySection | TableSection;

interface TablesContent {
  readonly lead?: string;
  /** Sentences below the lead. */
  readonly notes?: readonly string[];
  /** Tiles above the tables, for `parts/tile.eta`. */
  readonly tiles?: readonly object[];
  /** Tables; empty ones are omitted. A table with the page's title gets no heading. Default: the entries of the page's resource. */
  readonly sections?: readonly Section[];
  /** Controls next to the heading that group or filter the tables. */
  readonly segments?: readonly Segments[];
  /** A sentence below the tables, shown only if there are any. */
  readonly below?: string;
  /** Message above the tables, in addition to the confirmation of an action. */
  readonly flash?: { readonly kind: 'info' | 'warn'; readonly title: string; readonly text?: string };
}

/** An action's form on a page with tables. Both its heading and its button are the text `operator.act.NAME`. */
interface TablesForm extends Omit<ActionForm, 'path' | 'pathMembers' | 'sent'> {
  readonly action: ActionKind;
}

interface TablesPage extends Pick<Page, 'path' | 'title' | 'isListed'> {
  /** The listed page that this page belongs to. All labels here are text keys. */
  readonly back: { readonly path: string; readonly label: string };
  /** Shown if all tables of entries are empty, or if the page has no such tables and all others are empty. */
  readonly none: readonly [title: string, text: string];
  readonly lead?: string;
  /** Link next to the heading. */
  readonly action?: { readonly path: string; readonly label: string };
  readonly resource?: OperatorResource;
  /** Form below the tables. */
  readonly form?: TablesForm;
  /** Adds a last table, below the form: the actions recorded under this id (`ActionSubject.recordedAt`). Default: no such table. */
  readonly record?: string;
  read?(request: PageRequest): Promise<TablesContent>;
}

/** Creates an operator page: tables, an action's form below them, and the confirmation of a completed action. */
export function tablesPage(settings: TablesPage): Page {
  const { back, none, lead = '', action, resource: _resource, form, record, read, ...page } = settings;
  return {
    ...page,
    within: back.path,
    role: 'operator',
    template: 'parts/tables.eta',
    async show(request) {
      const { t, host } = request;
      const { below = '', sections, tiles = [], ...content } = (await read?.(request)) ?? {};
      const shown = await Promise.all(
        (sections ?? [{}]).map((section, index) => describeSection(section, { ...settings, request, index })),
      );
      const listed = shown.filter(({ isListed }) => isListed);
      const isEmpty =
        tiles.length === 0 && (listed.length > 0 ? listed : shown).every(({ table: { rows } }) => rows.length === 0);
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
        sections: omitEmptySections(shown.map(({ table }) => table)),
        record: omitEmptySections([describeActionTable(actions, reader, maxActions)]),
        act: form && (await describeForm(form, request)),
      };
    },
    ...(form !== undefined && {
      forms: [createActionForm(form.action, { find: () => ({ id: '', path: page.path }), ...form })],
    }),
  };
}

interface SectionContext extends Pick<TablesPage, 'path' | 'title' | 'resource'> {
  readonly request: PageRequest;
  readonly index: number; // position of the table on the page, from 0
}

async function describeSection(section: Section, context: SectionContext) {
  if ('rows' in section) {
    const { shown: rows, pages } = takePage(section.rows, context);
    return { table: { ...section, rows, pages }, isListed: false };
  }
  const { request, resource } = context;
  const { title = context.title, view = resource?.view, note } = section;
  const { shown, pages } =
    section.entries === undefined
      ? await readSection(section.query ?? {}, context)
      : takePage(section.entries, context);
  const fields = view?.page ?? [];
  const table = fieldTable(await withPersonNames(request, shown, fields), title, title, shown, fields);
  return { table: { ...table, ...(note !== undefined && { note: request.t(note) }), pages }, isListed: true };
}

/** The resource's query must have a cursor if the list can be long. */
async function readSection(query: object, context: SectionContext) {
  const { request, resource } = context;
  if (resource === undefined) return { shown: [], pages: undefined };
  const { host, t } = request;
  const { timeZone } = request.format;
  const cursor = resource.query.properties['after'];
  if (cursor === undefined)
    return takePage((await resource.list(host, query, { limit: maxEntries, timeZone })).entries, context);
  const parameter = nameParameter('after', context);
  const readFrom = (after: string) =>
    resource.list(host, { ...query, ...(after !== '' && { after }) }, { limit: pageSize, timeZone });
  const requested = request.query[parameter] ?? '';
  const after = new RegExp(cursor.pattern ?? '').test(requested) ? requested : '';
  const found = await readFrom(after);
  // The entries after the cursor may have been removed, such as emails that were sent. The first page is shown instead.
  const isFirst = after === '' || found.entries.length === 0;
  const list = isFirst && after !== '' ? await readFrom('') : found;
  const next = typeof list.next === 'string' ? buildPath(context, parameter, list.next) : '';
  const previous = isFirst ? '' : buildPath(context, parameter, '');
  const pages = { shown: '', previous, previousLabel: t('operator.page_first'), next };
  return { shown: list.entries, pages: isFirst && next === '' ? undefined : pages };
}

function takePage<Entry>(entries: readonly Entry[], context: SectionContext) {
  const { request } = context;
  const parameter = nameParameter('page', context);
  const page = clampPage(Number.parseInt(request.query[parameter] ?? '', 10) || 1, entries.length);
  const toPath = (number: number) => buildPath(context, parameter, String(number));
  const pages = describePages(page, entries.length, 'operator.page_shown', toPath, request);
  return {
    shown: sliceEntries(page, entries),
    pages: pages && { ...pages, previousLabel: request.t('operator.page_previous') },
  };
}

function nameParameter(name: string, { index }: SectionContext): string {
  return index === 0 ? name : `${name}${index + 1}`; // so that paging through one table leaves the others where they are
}

function buildPath({ path, request }: SectionContext, parameter: string, value: string): string {
  const { done: _done, [parameter]: _replaced, ...query } = request.query;
  const search = new URLSearchParams({ ...query, ...(value !== '' && { [parameter]: value }) }).toString();
  return search === '' ? path : `${path}?${search}`;
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
