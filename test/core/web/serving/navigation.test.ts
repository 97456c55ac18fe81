import { describe, expect, it } from 'vitest';
import { renderIcon } from '#core/web/pages/icons.ts';
import { listNavigation } from '#core/web/pages/list-navigation.ts';
import { formatContactLink, getInitials } from '#core/web/serving/layout.ts';
import { pageAt } from '../page-fixture.ts';

const pages = [
  pageAt('/dashboard/requests', {
    role: 'account',
    navigation: { label: 'requests', order: 20, icon: 'list', covers: ['/dashboard/exports'] },
  }),
  pageAt('/dashboard', { role: 'account', navigation: { label: 'home', order: 10 } }),
  pageAt('/account/key', { role: 'account', navigation: { label: 'key', place: 'menu' } }),
  pageAt('/late', { role: 'account', navigation: 'late' }),
  pageAt('/unlisted', { role: 'account' }),
  pageAt('/', {
    navigation: [
      { label: 'plans', path: '/#plans' },
      { label: 'models', path: '/#models' },
    ],
  }),
];
const t = (key: string) => key.toUpperCase();
const labels = (role: 'public' | 'account', place: 'main' | 'menu') =>
  listNavigation(pages, { role, place }, '/', t).map(({ label }) => label);

describe('the navigation of a layout', () => {
  it('lists pages of its role in their order, those without one last', () => {
    expect(labels('account', 'main')).toEqual(['HOME', 'REQUESTS', 'LATE']);
  });

  it('lists a page behind the one that it names, and by its order where that one is not listed', () => {
    const more = [
      pageAt('/notes/new', { role: 'account', navigation: { label: 'new', after: '/notes' } }),
      pageAt('/notes', { role: 'account', navigation: { label: 'notes', after: '/dashboard' } }),
      pageAt('/lost', { role: 'account', navigation: { label: 'lost', after: '/not-installed', order: 15 } }),
    ];
    const entries = listNavigation([...more, ...pages], { role: 'account', place: 'main' }, '/', t);
    expect(entries.map(({ label }) => label)).toEqual(['HOME', 'NOTES', 'NEW', 'LOST', 'REQUESTS', 'LATE']);
  });

  it('lists pages that name each other last instead of losing them', () => {
    const circle = ['/a', '/b'].map((path) =>
      pageAt(path, { role: 'account', navigation: { label: path, after: path === '/a' ? '/b' : '/a' } }),
    );
    const entries = listNavigation([...circle, ...pages], { role: 'account', place: 'main' }, '/', t);
    expect(entries.map(({ path }) => path).slice(-2)).toEqual(['/a', '/b']);
  });

  it('keeps entries of the menu apart', () => {
    expect(labels('account', 'menu')).toEqual(['KEY']);
  });

  it('lists parts of a page', () => {
    const entries = listNavigation(pages, { role: 'public', place: 'main' }, '/', t);
    expect(entries.map(({ path, isCurrent }) => [path, isCurrent])).toEqual([
      ['/#plans', false],
      ['/#models', false],
    ]);
  });

  it.each([
    ['/dashboard', 'HOME'],
    ['/dashboard/requests', 'REQUESTS'],
    ['/dashboard/requests/req_1', 'REQUESTS'],
    ['/dashboard/exports', 'REQUESTS'],
    ['/dashboard/other', 'HOME'],
    ['/dashboards', undefined],
  ])('marks, at %s, the entry %s', (current, label) => {
    const entries = listNavigation(pages, { role: 'account', place: 'main' }, current, t);
    expect(entries.find(({ isCurrent }) => isCurrent)?.label).toBe(label);
  });
});

it.each([
  ['Rani Putri', 'RP'],
  ['rani', 'R'],
  ['Dr. Élise de la Cour', 'DC'],
  ['<script>', 'S'],
  ['🦊', ''],
  ['', ''],
])('the initials of "%s" are "%s"', (name, initials) => {
  expect(getInitials(name)).toBe(initials);
});

it.each([
  ['mailto:hello@example.com', 'hello@example.com'],
  ['https://wa.me/628111002233?text=Halo', 'WhatsApp +628111002233'],
  ['https://help.example.com/ask', 'help.example.com'],
  ['', ''],
])('the contact %s is written as %s', (contact, text) => {
  expect(formatContactLink(contact)).toBe(text);
});

it('the navigation draws nothing for an icon that does not exist', () => {
  expect([renderIcon('ok').startsWith('<svg class="icon"'), renderIcon('toString')]).toEqual([true, '']);
});
