import { expect, it } from 'vitest';
import { showPage } from '#core/extension/testing/index.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { tablesPage } from '#core/web/actions/tables-page.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { fieldTable, defineView } from '#core/web/resources/field.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';

const request = {
  t: String,
  format: getFormatter('en', 'UTC'),
  language: 'en',
  host: createTestHost(),
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
