import { expect, it } from 'vitest';
import { listNavigation } from '#core/web/pages/list-navigation.ts';
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
