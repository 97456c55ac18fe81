import { afterEach, expect, it, vi } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { type NoticeSource, noticesToJson, collectNotices } from '#core/web/pages/notices.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

const host = createTestHost();
const request = { host, language: 'en' } as unknown as PageRequest;

/** A source with one notice, of which visitors read nothing. */
const source = (name: string): NoticeSource => ({
  name,
  show: async (_request, _now, readers) => (readers === 'all' ? [] : [{ kind: 'info', title: name }]),
  toJson: async (_host, language) => [{ name, language }],
});
const sources = new Map(['parades', 'weather'].map((name) => [name, source(name)]));

it('pages show the notices of every source, in the order in which they were registered', async () => {
  expect(await collectNotices(sources, request, 0, 'customers')).toMatchObject([
    { title: 'parades' },
    { title: 'weather' },
  ]);
  expect(await collectNotices(sources, request, 0, 'all')).toEqual([]);
});

it('the JSON has a member for each source', async () => {
  expect(await noticesToJson(sources, host, 'id')).toEqual({
    parades: [{ name: 'parades', language: 'id' }],
    weather: [{ name: 'weather', language: 'id' }],
  });
});

it('pages and JSON are without notices where there is no source', async () => {
  expect(await collectNotices(new Map(), request, 0, 'customers')).toEqual([]);
  expect(await noticesToJson(new Map(), host, 'en')).toEqual({});
});

afterEach(() => vi.useRealTimers());

it('a source that never answers holds the page for three seconds', async () => {
  vi.useFakeTimers();
  const silent: NoticeSource = { name: 'silent', show: () => new Promise(() => undefined), toJson: async () => [] };
  const logging = createTestHost();
  const shown = collectNotices(
    new Map([['silent', silent], ...sources]),
    { ...request, host: logging },
    0,
    'customers',
  );
  await vi.advanceTimersByTimeAsync(3_000);
  expect(await shown).toMatchObject([{ title: 'parades' }, { title: 'weather' }]);
  expect(logging.lines.join()).toMatch('no answer within 3000 ms');
});

it('a source of notices that fails is logged, and affects neither the other notices nor the JSON', async () => {
  const failing = createTestHost();
  const broken: NoticeSource = {
    name: 'broken',
    show: () => Promise.reject(new Error('no table')),
    toJson() {
      throw new Error('no table');
    },
  };
  const all = new Map([['broken', broken], ...sources]);
  const asked = { ...request, host: failing } as PageRequest;
  expect(await collectNotices(all, asked, 0, 'customers')).toMatchObject([{ title: 'parades' }, { title: 'weather' }]);
  expect(await noticesToJson(all, failing, 'en')).toMatchObject({ broken: [], parades: [{ name: 'parades' }] });
  expect(failing.lines.join()).toMatch(/reading the notices "broken" failed.*no table/s);
});
