import { expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/index.ts';
import { listLinksWithin, listNavigation } from '#core/web/pages/list-navigation.ts';
import type { Page } from '#core/web/pages/page.ts';

const page = (path: string, more: Partial<Page> = {}): Page => ({
  path,
  role: 'operator',
  title: path,
  show: () => ({}),
  ...more,
});
const pages = [
  page('/operator', { navigation: 'overview' }),
  page('/operator/health', { navigation: 'health' }),
  page('/operator/parades', { within: '/operator/health' }),
];
const marked = (current: string) =>
  listNavigation(pages, { role: 'operator', place: 'main' }, current, String)
    .filter(({ isCurrent }) => isCurrent)
    .map(({ path }) => path);

it('marks the page that a page is within, also for pages below it', () => {
  expect(marked('/operator/parades')).toEqual(['/operator/health']);
  expect(marked('/operator/parades/new')).toEqual(['/operator/health']);
});

it('marks the longest path that leads to the page', () => {
  expect(marked('/operator/health')).toEqual(['/operator/health']);
  expect(marked('/operator/other')).toEqual(['/operator']);
});

it('lists an entry once that follows its own page', () => {
  const twice = [
    { label: 'first', order: 1 },
    { label: 'second', order: 2, after: '/operator' },
  ];
  const entries = listNavigation(
    [page('/operator', { navigation: twice }), page('/operator/health', { navigation: { label: 'health', order: 3 } })],
    { role: 'operator', place: 'main' },
    '/operator',
    String,
  );
  expect(entries.map(({ label }) => label)).toEqual(['first', 'second', 'health']);
});

it('links the pages within another one that are listed now', async () => {
  await using host = createTestHost();
  const within = [...pages, page('/operator/floats', { within: '/operator/health', isListed: () => false })];
  expect(listLinksWithin({ pages: within }, '/operator/health', String, host)).toEqual([
    { path: '/operator/parades', label: '/operator/parades' },
  ]);
});
