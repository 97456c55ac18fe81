import { matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkImports } from '../../.ci/import-check.ts';
import { checkPages, readPages } from '../../.ci/page-check.ts';
import { type SourceTree, treeWithout } from '../../.ci/source-tree.ts';

const texts = (keys: readonly string[]) => JSON.stringify(Object.fromEntries(keys.map((key) => [key, 'Text'])));
const uplot = 'node_modules/uplot/dist/uPlot.iife.min.js';
const files: Readonly<Record<string, string>> = {
  'package.json': '{ "devDependencies": {} }',
  '.ci/deletion.yaml': 'kept: []\n',
  '.ci/plugin-contract.yaml': 'contract: {}\nshared: {}\n',
  'docs/architecture.md': '    plugins/   capabilities\n      gifts shop   two\n    views/\n',
  'docs/glossary.md': '| a | b | c | d |\n',
  [uplot]: '',
  'plugins/shop/index.ts':
    "const title = `shop.${name}`; t('plain.key'); t('gone'); describeChoice('theme'); ({ texts: 'field' });",
  'plugins/shop/texts/en.json': texts(['shop.title', 'plain.key', 'gone.title', 'theme.dark', 'field.label']),
  'plugins/shop/texts/id.json': texts(['shop.title', 'plain.key', 'gone.title', 'theme.dark', 'field.label']),
  'plugins/gifts/index.ts': "import { x } from '../shop/index.ts'; t('gift.title'); t('shared.word');",
  'plugins/gifts/texts/en.json': texts(['gift.title']),
  'plugins/gifts/texts/id.json': texts(['gift.title']),
  'views/shop/page.eta': '<p class="card layout-<%= it.layout %>">wide</p>',
  'views/shop/page.css': '.card { color: red } .layout-wide { color: red } .ribbon { color: red }',
  'views/gifts/page.eta': '<p class="ribbon"><%~ include(\'/shop/page\') %></p>',
};

/** Files in memory. */
function treeOf(given: Readonly<Record<string, string>>): SourceTree {
  const folders = new Set(Object.keys(given).flatMap((file) => [file, file.split('/').slice(0, 2).join('/')]));
  const read = (file: string) => given[file] ?? '';
  return {
    find: (glob) => [...folders].filter((path) => matchesGlob(path, glob)),
    has: (path) => folders.has(path),
    read,
    derive: (file, compute) => compute(read(file), file),
  };
}

/** Mistakes in a tree without some paths, by what was read of all of it. */
const mistakesIn = (changed: Readonly<Record<string, string>>, ...paths: readonly string[]) => {
  const tree = treeOf({ ...files, ...changed });
  return checkPages(treeWithout(tree, paths), readPages(tree)).mistakes;
};
const gifts = ['plugins/gifts', 'views/gifts'];

describe('a text', () => {
  it('is used as the label of a field of a view, and as one of its states', () => {
    const all = texts(['gift.title', 'pass.code', 'pass.state', 'pass.state.open', 'pass.code.open', 'pass.other']);
    const view =
      "defineView<Pass>('pass')({ code: { type: 'id', of: 'code' }, state: { type: 'state', of: 'state' } });";
    const changed = {
      'plugins/gifts/view.ts': view,
      'plugins/gifts/texts/en.json': all,
      'plugins/gifts/texts/id.json': all,
    };
    expect(mistakesIn(changed)).toEqual(
      ['pass.code.open', 'pass.other'].map((key) => `plugins/gifts/texts/en.json: "${key}" is not used`),
    );
  });

  it('is used as it is written, as a title, after a prefix, as a choice, and as that of a field', () => {
    expect(mistakesIn({})).toEqual([]);
  });

  it('that is no longer used is reported once the folder that used it is gone', () => {
    const both = texts(['shared.word']);
    const changed = { 'plugins/shop/texts/en.json': both, 'plugins/shop/texts/id.json': both };
    expect(mistakesIn(changed)).toEqual([]);
    expect(mistakesIn(changed, ...gifts)).toContain('plugins/shop/texts/en.json: "shared.word" is not used');
  });

  it('that a template asks for is reported once the folder that has it has gone', () => {
    const changed = { 'views/shop/more.eta': "<%= it.t('gift.title') %>" };
    expect(mistakesIn(changed)).toEqual([]);
    expect(mistakesIn(changed, ...gifts)).toContain('views/shop/more.eta: text "gift.title" does not exist');
  });
});

const mistakesOfFields = (fields: string) =>
  mistakesIn({ 'plugins/shop/fields.ts': `const view = defineView<Entry>()({ ${fields} });` });

describe('the label of a field', () => {
  it('that follows from its name is reported if no plugin defines it', () => {
    expect(mistakesOfFields("reason: { type: 'text', at: 'below' }, secret: { type: 'text' }")).toEqual([
      'plugins/shop/fields.ts: text "operator.reason" does not exist',
    ]);
    expect(mistakesOfFields("reason: { type: 'text', label: 'plain.key', at: 'below', cell: () => ({}) }")).toEqual([]);
  });

  it('that it needs once a page lists it alone is reported too', () => {
    expect(mistakesOfFields("paid: { type: 'time' } }); view.pick('paid'); ({")).toEqual([
      'plugins/shop/fields.ts: text "operator.paid" does not exist',
    ]);
  });

  it('is looked up behind the prefix of its view', () => {
    const fields =
      "}), other = defineView<Entry>('plain')({ key: { type: 'text', at: 'end' }, no: { type: 'text', at: 'end' }";
    expect(mistakesOfFields(fields)).toEqual(['plugins/shop/fields.ts: text "plain.no" does not exist']);
  });

  it('is looked up behind a prefix with dots', () => {
    const fields = "}), other = defineView<Entry>('shop.field')({ no: { type: 'text', at: 'end' }";
    expect(mistakesOfFields(fields)).toEqual(['plugins/shop/fields.ts: text "shop.field.no" does not exist']);
  });

  it('that code names is reported if no plugin defines it', () => {
    expect(mistakesOfFields("reason: { type: 'text', label: 'shop.none', at: 'end' }, more: t('shop.more')")).toEqual([
      'plugins/shop/fields.ts: text "shop.none" does not exist',
      'plugins/shop/fields.ts: text "shop.more" does not exist',
    ]);
  });

  it('that code uses by default is reported if other labels of its page are defined', () => {
    const all = texts(['gift.title', 'gift.buy.title', 'gift.buy.error.blocked']);
    const changed = {
      'plugins/shop/page.ts':
        "show(errors[kind] ?? 'gift.buy.down', 'gift.buy.title', 'gift.buy.error', `gift.buy.error.${kind}`, 'gift.not.one')",
      'plugins/gifts/texts/en.json': all,
      'plugins/gifts/texts/id.json': all,
    };
    expect(mistakesIn(changed)).toEqual(['plugins/shop/page.ts: text "gift.buy.down" does not exist']);
  });
});

describe('a class', () => {
  it('that only a deleted template had is reported', () => {
    expect(mistakesIn({}, ...gifts)).toEqual(['views/shop/page.css: no template or script has the class "ribbon"']);
  });

  it('that only begins like a used class, or is a part of one, is reported', () => {
    expect(mistakesIn({ 'views/shop/page.css': '.car { color: red } .layout-tall { color: red }' })).toEqual([
      'views/shop/page.css: no template or script has the class "car"',
      'views/shop/page.css: no template or script has the class "layout-tall"',
    ]);
  });
});

it('a template that a deleted folder had is reported where it is included', () => {
  expect(mistakesIn({}, 'views/shop/page.eta', 'views/shop/page.css')).toEqual([
    'views/gifts/page.eta: views/shop/page.eta does not exist',
  ]);
});

it('an import of a deleted folder is reported, and none of a folder whose name only begins like it', () => {
  const tree = treeOf({
    ...files,
    'plugins/shop-pages/index.ts': "import './texts/en.json';",
    'plugins/shop-pages/texts/en.json': '{}',
  });
  const { mistakes } = checkImports(treeWithout(tree, ['plugins/shop']));
  expect(mistakes).toContain('plugins/gifts/index.ts: imports plugins/shop/index.ts, which does not exist');
  expect(mistakes.filter((line) => line.includes('shop-pages'))).toEqual([]);
});
