import { expect, it } from 'vitest';
import { showPage } from '#core/extension/testing/index.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { object } from '#core/platform/schema.ts';
import { tablesPage } from '#core/web/actions/tables-page.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { fieldTable, defineView } from '#core/web/resources/field.ts';
import { createAfterSchema, defineResource, takeFirst } from '#core/web/resources/resource.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';

const request = {
  t: String,
  format: getFormatter('en', 'UTC'),
  language: 'en',
  host: createTestHost(),
  query: {},
} as unknown as PageRequest;
const view = defineView<{ name: string }>()({ name: { type: 'text', at: 'title', of: 'name' } });
const tableOf = (...names: string[]) =>
  fieldTable(
    request,
    'parcels',
    'parcels',
    names.map((name) => ({ name })),
    view.page,
  );
const entriesOf = (...names: string[]) => ({ entries: names.map((name) => ({ name })), view });

type Sections = readonly (ReturnType<typeof tableOf> | ReturnType<typeof entriesOf>)[];

async function show(sections: Sections) {
  const page = tablesPage({
    path: '/operator/parcels',
    title: 'parcels',
    back: { path: '/operator', label: 'overview' },
    none: ['none', 'none.text'],
    read: () => Promise.resolve({ sections, below: 'below' }),
  });
  return (await page.show(request)) as { readonly none?: object; readonly below: string };
}

it.each([
  ['entries', [entriesOf('a')]],
  ['entries below an empty table', [entriesOf(), entriesOf('a')]],
  ['rows, where it has no table of entries', [tableOf('a')]],
])('a page with %s does not say that there is nothing', async (_, sections) => {
  expect(await show(sections)).toMatchObject({ none: undefined, below: 'below' });
});

it.each([
  ['without entries', [entriesOf()]],
  ['without entries beside a table about something else', [entriesOf(), tableOf('a')]],
  ['without rows', [tableOf()]],
])('a page %s says that there is nothing', async (_, sections) => {
  expect(await show(sections)).toMatchObject({ none: { title: 'none', text: 'none.text' }, below: '' });
});

it('a page of tables shows its tiles above them, and the note of a table below it', async () => {
  const page = tablesPage({
    path: '/operator/parcels',
    title: 'parcels',
    back: { path: '/operator', label: 'overview' },
    none: ['none', 'none.text'],
    read: () =>
      Promise.resolve({
        tiles: [{ label: 'Weight', value: '3 kg' }],
        sections: [{ ...entriesOf('a'), title: 'sent', note: 'sent.note' }, entriesOf()],
      }),
  });
  const { html } = await showPage(page);
  expect(html).toMatch(/3 kg[^]*<h2>sent<\/h2>[^]*>a<[^]*<p class="soft small">sent\.note<\/p>/);
});

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `parcel ${index + 1}`);

const readingOf =
  (...sections: readonly object[]) =>
  () =>
    Promise.resolve({ sections });

const joinValues = (key: string, values: object = {}) => [key, ...Object.values(values)].join(' ');

interface ShownTables {
  readonly sections: readonly {
    readonly rows: readonly (readonly { readonly text: string }[])[];
    readonly pages?: object;
  }[];
}

/** Shows a page of the texts' keys, with the query of its address. */
async function showTables(settings: object, query: Readonly<Record<string, string>> = {}) {
  const page = tablesPage({
    path: '/operator/parcels',
    title: 'parcels',
    back: { path: '/operator', label: 'overview' },
    none: ['none', 'none.text'],
    ...settings,
  });
  return (await page.show({ ...request, t: joinValues, query } as unknown as PageRequest)) as ShownTables;
}

it('a long table says how many entries there are, and leads to all of them', async () => {
  const read = readingOf(tableOf('a'), entriesOf(...namesOf(230)));
  const [, first] = (await showTables({ read }, { span: 'day', done: 'parcel.send' })).sections;
  expect(first?.rows).toHaveLength(100);
  expect(first?.pages).toMatchObject({
    shown: 'operator.page_shown 1 100 230',
    previous: '',
    next: '/operator/parcels?span=day&page2=2',
  });
  const [, last] = (await showTables({ read }, { page2: '3' })).sections;
  expect(last?.rows.map(([cell]) => cell?.text)).toEqual(namesOf(230).slice(200));
  expect(last?.pages).toMatchObject({ previous: '/operator/parcels?page2=2', next: '' });
});

it('a table of rows is divided like a table of entries, and a short one is not', async () => {
  const read = readingOf(tableOf(...namesOf(101)), tableOf('a'));
  const [long, short] = (await showTables({ read })).sections;
  expect(long?.rows).toHaveLength(100);
  expect(long?.pages).toBeDefined();
  expect(short?.pages).toBeUndefined();
});

it('a resource without a cursor is read with a limit that its SQL can take', async () => {
  const limits: number[] = [];
  const list = (_host: unknown, _query: unknown, { limit }: { limit: number }) => {
    limits.push(limit);
    return Promise.resolve({ entries: [{ name: 'a' }] });
  };
  await showTables({ resource: defineResource({ name: 'parcel', summary: 'list parcels', view, list }) });
  expect(limits).toEqual([10_000]);
});

it('a resource without a cursor is listed as a whole, page by page', async () => {
  const names = namesOf(201);
  const resource = defineResource({
    name: 'parcel',
    summary: 'list parcels',
    view,
    list: (_host, _query, { limit }) =>
      Promise.resolve(
        takeFirst(
          names.map((name) => ({ name })),
          limit,
        ),
      ),
  });
  const [table] = (await showTables({ resource }, { page: '3' })).sections;
  expect(table?.rows.map(([cell]) => cell?.text)).toEqual(['parcel 201']);
});

it('a resource with a cursor is read page by page, each table from its own place', async () => {
  const asked: object[] = [];
  const resource = defineResource({
    name: 'parcel',
    summary: 'list parcels',
    query: object({ state: { enum: ['sent', 'lost'] }, after: createAfterSchema('parcel', '^\\d+$') }),
    view,
    list(_host, query, { limit }) {
      asked.push(query);
      return Promise.resolve({ entries: namesOf(limit).map((name) => ({ name })), next: '100' });
    },
  });
  const read = readingOf({ query: { state: 'sent' } }, { query: { state: 'lost' } });
  const { sections } = await showTables({ resource, read }, { after: 'nonsense', after2: '7' });
  expect(asked).toEqual([{ state: 'sent' }, { state: 'lost', after: '7' }]);
  expect(sections.map(({ pages }) => pages)).toMatchObject([
    { previous: '', next: '/operator/parcels?after2=7&after=100' },
    { previous: '/operator/parcels?after=nonsense', next: '/operator/parcels?after=nonsense&after2=100' },
  ]);
});

it('a page of a resource whose entries are gone shows the first one', async () => {
  const resource = defineResource({
    name: 'parcel',
    summary: 'list parcels',
    query: object({ after: createAfterSchema('parcel', '^\\d+$') }),
    view,
    list: (_host, { after }) => Promise.resolve({ entries: after === undefined ? [{ name: 'a' }] : [], next: null }),
  });
  const [table] = (await showTables({ resource }, { after: '7' })).sections;
  expect(table?.rows).toHaveLength(1);
  expect(table?.pages).toBeUndefined();
});

it('the page shows the links below the table', async () => {
  const page = tablesPage({
    path: '/operator/parcels',
    title: 'parcels',
    back: { path: '/operator', label: 'overview' },
    none: ['none', 'none.text'],
    read: () => Promise.resolve({ sections: [entriesOf(...namesOf(101))] }),
  });
  const { html } = await showPage(page);
  expect(html).toMatch(/<\/table>[^]*1 to 100 of 101[^]*href="\/operator\/parcels\?page=2">Next page</);
});
