import { mkdirSync, mkdtempDisposableSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import { type Config, validate } from '#core/extension/validation/validate-config.ts';
import { parseShopPages } from '../../../plugins/shop-pages/parse-pages.ts';
import { pagesSection } from '../../../plugins/shop-pages/section.ts';
import { complete, createRegistry } from '../../core/config/fixture.ts';

/** Reads a gateway.yaml with these files beside it. */
function read(files: Readonly<Record<string, string | Buffer>>, yaml = '', folder = shop()): Config {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const registry = createRegistry([pagesSection]);
  registry.page({ path: '/buy', role: 'public', title: 'x', show: () => ({}) });
  registry.endpoint({ name: 'list', method: 'GET', path: '/v1/models/{id}', isMetered: false, isAliased: true });
  return validate(parseDocument(complete(yaml), join(folder, 'gateway.yaml'), {}), registry);
}

let folders = new DisposableStack();
afterEach(() => {
  folders.dispose();
  folders = new DisposableStack();
});
const shop = () => folders.use(mkdtempDisposableSync(join(tmpdir(), 'daypass-pages-'))).path;
const namesOf = (config: Config) => [...parseShopPages(config.files?.(pagesSection) ?? new Map()).texts.keys()];

it('pages are the files of the folder, by name and language', () => {
  const config = read({
    'pages/terms.en.md': '# T',
    'pages/terms.id.md': '# K',
    'pages/README.md': 'x',
    'pages/a.txt': 'x',
  });
  expect(namesOf(config)).toEqual(['terms']);
});

it('an absent folder is an empty one', () => {
  expect(namesOf(read({}))).toEqual([]);
  expect(read({}).fingerprint).toBe(read({ 'gateway.png': 'x' }).fingerprint);
});

it('an edited, added or removed file changes the configuration', () => {
  const folder = shop();
  const fingerprints = ['# A', '# B', '# B\n'].map(
    (text) => read({ 'pages/terms.en.md': text }, '', folder).fingerprint,
  );
  fingerprints.push(read({ 'pages/about.en.md': '# B' }, '', folder).fingerprint);
  expect(new Set(fingerprints).size).toBe(4);
});

it('files of a ConfigMap, which are links, are read', () => {
  const folder = shop();
  const map = join(folder, 'map');
  read({ 'map/..2026/terms.en.md': '# T' }, '', folder);
  symlinkSync('..2026', join(map, '..data'));
  symlinkSync('..data/terms.en.md', join(map, 'terms.en.md'));
  expect(namesOf(read({}, 'pages: { folder: map }', folder))).toEqual(['terms']);
});

it.each([
  [{ 'pages/terms.md': 'x' }, '', /terms\.md is not named like a page; name it like terms\.en\.md/],
  [{ 'pages/terms.fr.md': 'x' }, '', /terms\.fr\.md is not named like a page/],
  [{ 'pages/terms.en.md': '---\nversoin: 1\n---\n' }, '', /terms\.en\.md has "versoin" in its head/],
  [{ 'pages/terms.en.md': 'x'.repeat(262_145) }, '', /terms\.en\.md is longer than 262144 bytes/],
  [{ 'pages/terms.en.md': Buffer.from([0x80, 0xff]) }, '', /terms\.en\.md is not text/],
  [{ 'pages/terms.en.md/x': 'x' }, '', /terms\.en\.md is not a regular file/],
  [{ 'pages/buy.en.md': 'x' }, '', /\/buy, which is a page of the gateway/],
  [{ 'pages/models.en.md': 'x' }, '', /\/models, which is a page of the gateway/],
  [{ 'pages/v1.en.md': 'x' }, '', /\/v1, which is a page of the gateway/],
  [{}, 'service: { terms: /agb }', /service\.terms.*is \/agb, but there is no such page.*agb\.en\.md/s],
  [
    { 'pages/terms.en.md': 'x' },
    'service: { privacy: "/privacy?x#y" }',
    /is \/privacy\?x#y, but there is no such page/,
  ],
])('%j with "%s" is a mistake', (files, yaml, wrong) => {
  expect(() => read(files as Record<string, string>, yaml)).toThrow(wrong);
});

it.each(['/terms', '/terms#use', '/buy', 'https://a.test/terms'])('service.terms may be %s', (terms) => {
  expect(() => read({ 'pages/terms.en.md': 'x' }, `service: { terms: "${terms}" }`)).not.toThrow();
});
