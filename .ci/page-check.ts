/**
 * The rules for pages. Texts: the same keys and placeholders in every language, each text used somewhere, no key used that does not exist
 * (including the implied label of a field), and no word that docs/glossary.md rules out. Templates: nothing inline that the content
 * security policy would block, nothing unescaped outside the layout, and each in its plugin's folder. Templates and style sheets that are
 * named must exist. Style sheets: only classes that are used, and only what the oldest supported browsers understand.
 */
import { normalize, sep } from 'node:path';
import { parse } from 'yaml';
import { type DeletionTable, rowsOf } from './deletion-rules.ts';
import { formOf, indexPages, type KeyForm, type PageIndex } from './page-index.ts';
import type { SourceTree } from './source-tree.ts';

type Text = string | Record<string, string>;
type Texts = Record<string, Text>;

interface Pages {
  readonly tree: SourceTree;
  readonly index: PageIndex;
  readonly allKeys: ReadonlySet<string>;
  readonly views: ReadonlySet<string>; // templates, style sheets and other files
  readonly owners: ReadonlySet<string>; // folders that may have views
  readonly isWhole: boolean; // no capability has been deleted
}

const templateFiles = '{views,core,plugins,docs}/**/*.eta';

/** One index serves a tree and all trees that lack some of its files. */
export function readPages(tree: SourceTree): PageIndex {
  const sources = [...tree.find(templateFiles), ...tree.find('{core,plugins,docs}/**/*.ts')];
  // Classes are used by templates, browser scripts, view models, and the script that draws charts.
  const scripts = [...tree.find('views/**/*.js'), 'node_modules/uplot/dist/uPlot.iife.min.js'];
  return indexPages(tree, sources, [...sources, ...scripts]);
}

export function checkPages(tree: SourceTree, index: PageIndex) {
  const folders = tree.find('{core,plugins,docs}/**/texts/en.json').map((file) => file.slice(0, -'en.json'.length));
  const templates = tree.find(templateFiles);
  const owners = new Set(['shell', 'parts', ...tree.find('plugins/*').map((path) => path.slice('plugins/'.length))]);
  const table = parse(tree.read('.ci/deletion.yaml')) as DeletionTable;
  const pages: Pages = {
    tree,
    index,
    allKeys: new Set(folders.flatMap((folder) => Object.keys(readTexts(tree, `${folder}en.json`)))),
    views: new Set(tree.find('views/**/*')),
    owners,
    isWhole: Object.keys(rowsOf(table, tree.read('docs/architecture.md'))).every((name) => owners.has(name)),
  };
  const mistakes = [
    ...folders.flatMap((folder) => checkTexts(pages, folder)),
    ...templates.flatMap((file) => checkTemplate(pages, file)),
    ...templates.flatMap((file) => checkPlace(pages, file)),
    ...[...templates, ...tree.find('{core,plugins}/**/*.ts')].flatMap((file) => checkFiles(pages, file)),
    ...(pages.isWhole ? checkLabels(pages) : []),
    ...tree.find('views/**/*.css').flatMap((file) => checkStyle(pages, file)),
  ];
  return { mistakes, texts: pages.allKeys.size, templates: templates.length };
}

export function textKeysOf(tree: SourceTree): string[] {
  return tree.find('{core,plugins}/**/texts/en.json').flatMap((file) => Object.keys(readTexts(tree, file)));
}

function readTexts(tree: SourceTree, file: string): Texts {
  return tree.derive(file, parseTexts);
}

function parseTexts(text: string): Texts {
  return JSON.parse(text) as Texts;
}

function checkTexts(pages: Pages, folder: string): string[] {
  const { tree } = pages;
  const en = readTexts(tree, `${folder}en.json`);
  const id = readTexts(tree, `${folder}id.json`);
  const ruledOut = tree.derive('docs/glossary.md', readGlossary);
  return [
    ...listMissingKeys(en, id).map((key) => `${folder}id.json: "${key}" is missing`),
    ...listMissingKeys(id, en).map((key) => `${folder}en.json: "${key}" is missing`),
    ...Object.keys(en)
      .filter((key) => key in id && listPlaceholders(en[key]) !== listPlaceholders(id[key]))
      .map((key) => `${folder}id.json: "${key}" has other placeholders than in en.json`),
    ...Object.keys(en)
      .filter((key) => !isUsed(pages, key))
      .map((key) => `${folder}en.json: "${key}" is not used`),
    ...checkWords(`${folder}en.json`, en, ruledOut.en),
    ...checkWords(`${folder}id.json`, id, ruledOut.id),
  ];
}

interface RuledOut {
  readonly pattern: RegExp;
  readonly terms: string; // what to say instead: `API key, key`
  readonly termPatterns: readonly RegExp[];
}

function readGlossary(glossary: string) {
  return { en: readWords(glossary, 4), id: readWords(glossary, 5) };
}

function readWords(glossary: string, column: number): RuledOut[] {
  const rows = glossary
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.slice(1).flatMap((cells) => {
    const terms = cells[column - 3] ?? '';
    const termPatterns = terms.split(', ').map((term) => new RegExp(term, 'gi'));
    return (
      (cells[column] ?? '')
        .split(', ')
        .filter((word) => word !== '')
        // The word does not count within a placeholder: `{key}`.
        .map((word) => ({ pattern: new RegExp(`(?<![\\w{])${word}(?![\\w}])`, 'i'), terms, termPatterns }))
    );
  });
}

function checkWords(file: string, texts: Texts, words: readonly RuledOut[]): string[] {
  return Object.entries(texts).flatMap(([key, text]) => {
    const whole = typeof text === 'string' ? text : Object.values(text).join(' ');
    return words.flatMap(({ pattern, terms, termPatterns }) => {
      if (!pattern.test(whole)) return [];
      const rest = termPatterns.reduce((left, term) => left.replaceAll(term, ''), whole);
      const [word] = pattern.exec(rest) ?? [];
      return word === undefined ? [] : [`${file}: "${key}" says "${word}"; docs/glossary.md: ${terms}`];
    });
  });
}

function listMissingKeys(texts: Texts, others: Texts): string[] {
  return Object.keys(texts).filter((key) => !(key in others));
}

/** Reads the plural form, because the singular may leave out the number. */
function listPlaceholders(text: Text = ''): string {
  const whole = typeof text === 'string' ? text : (text['other'] ?? '');
  return [...new Set(whole.match(/\{\w+\}/g))].toSorted().join(' ');
}

/**
 * True if a key is written out, titles an error page, or is built from a prefix: `theme.${name}`, `describeChoice('theme')`, the texts of a
 * field.
 */
function isUsed(pages: Pages, key: string): boolean {
  const prefixes = key
    .split('.')
    .map((_, index, parts) => parts.slice(0, index).join('.'))
    .slice(1);
  return (
    isKeyNamed(pages, 'quoted', key) ||
    isKeyNamed(pages, 'quoted', key.replace(/\.title$/, '')) ||
    prefixes.some((prefix) => prefixForms.some((form) => isKeyNamed(pages, form, prefix)))
  );
}

const prefixForms: readonly KeyForm[] = ['completed', 'chosen', 'field'];

function isKeyNamed({ tree, index }: Pages, form: KeyForm, key: string): boolean {
  return existsAny(tree, index.keys.get(formOf(form, key)));
}

function existsAny(tree: SourceTree, files: readonly string[] = []): boolean {
  return files.some((file) => tree.has(file));
}

function checkPlace({ owners }: Pages, file: string): string[] {
  const [top, owner = ''] = normalize(file).split(sep);
  if (top !== 'views' || owners.has(owner)) return [];
  return [`${file}: put it in views/PLUGIN/, or in views/parts/ if several plugins use it`];
}

function checkFiles({ tree, views }: Pages, file: string): string[] {
  const lost = tree.derive(file, findIncludedViews).filter((path) => !views.has(path));
  return lost.map((path) => `${file}: ${path} does not exist`);
}

const fieldType = 'id|time|money|count|duration|state|text|person|link';
const field = new RegExp(`(\\w+): \\{\\s*type: '(?:${fieldType})'`, 'g');

/** Checks texts that code names by their whole key, and the labels of fields that pages show (core/web/resources/field.ts). */
function checkLabels({ tree, allKeys }: Pages): string[] {
  const files = tree.find('{core,plugins}/**/*.ts');
  const picked = new Set(files.flatMap((file) => tree.derive(file, findPickedFields)));
  const areas = new Set([...allKeys].map((key) => key.split('.')[0]));
  const groups = new Set([...allKeys].filter((key) => groupOf(key) !== key).map(groupOf));
  const prefixes = new Set([...allKeys].map((key) => key.slice(0, key.lastIndexOf('.'))));
  return files.flatMap((file) => {
    const fields = tree.derive(file, findFields).filter(({ name, isColumn }) => isColumn || picked.has(name));
    // `label: 'gateway.yaml'` is a file name.
    const named = tree.derive(file, findLabels).filter((key) => areas.has(key.split('.')[0]));
    const quoted = tree.derive(file, findLongKeys).filter((key) => groups.has(groupOf(key)) && !prefixes.has(key));
    const keys = [...named, ...quoted, ...fields.map(({ key }) => key)];
    return [...new Set(keys)].filter((key) => !allKeys.has(key)).map((key) => `${file}: text "${key}" does not exist`);
  });
}

function findLabels(text: string): string[] {
  return [...text.matchAll(/(?:\bt\(|\b(?:label|title): )'([a-z_]+\.[\w.]+)'/g)].map(([, key = '']) => key);
}

/** Keys of three or more parts, such as `?? 'payments.buy.blocked'`, are text keys if texts begin with the same two parts. */
function findLongKeys(text: string): string[] {
  return [...text.matchAll(/'([a-z_]+\.[a-z_]+\.[\w.]+)'/g)].map(([, key = '']) => key);
}

function groupOf(key: string): string {
  return key.split('.', 2).join('.');
}

function findPickedFields(text: string): string[] {
  // such as `orderView.paid`
  return [...text.matchAll(/(\w+)(?:\.view)?\.pick\(([^)]*)\)/g)].flatMap(([, view = '', names = '']) =>
    (names.match(/\w+/g) ?? []).map((name) => `${view}.${name}`),
  );
}

function findFields(text: string) {
  return [...text.matchAll(field)].map(({ 0: head, 1: name = '', index }) => {
    const body = readBlock(text, index + head.indexOf('{'));
    const label = /\blabel: '([^']+)'/.exec(body)?.[1];
    const before = text.slice(0, index);
    const prefix = findLastMatch(before, /\bdefineView<[^(]*\('([\w.-]+)'\)|\bdefineView\b/g) ?? 'operator';
    const view = findLastMatch(before, /\bconst (\w+) =/g) ?? '';
    return { name: `${view}.${name}`, key: label ?? `${prefix}.${name}`, isColumn: /\bat: '/.test(body) };
  });
}

function findLastMatch(text: string, pattern: RegExp): string | undefined {
  return [...text.matchAll(pattern)].at(-1)?.[1];
}

function readBlock(text: string, start: number): string {
  let depth = 0;
  for (let end = start; end < text.length; end += 1) {
    if (text[end] === '{') depth += 1;
    else if (text[end] === '}') depth -= 1;
    if (depth === 0) return text.slice(start, end + 1);
  }
  return text.slice(start);
}

function findIncludedViews(text: string, file: string): string[] {
  const included = text.matchAll(/\binclude\('\/([^']+)'/g).map(([, path]) => `views/${path}.eta`);
  const shown = file.endsWith('.ts') ? text.matchAll(/'(\w[\w/-]*\.(?:eta|css))'/g) : [];
  return [...included, ...[...shown].map(([, path]) => `views/${path}`)];
}

/** The oldest supported browsers set the rules: Chromium 110 has no nesting, and WebKit knows only its own name for `user-select`. */
function checkStyle(pages: Pages, file: string): string[] {
  const text = pages.tree.read(file).replaceAll(/\/\*[^]*?\*\//g, '');
  const classes = new Set([...text.matchAll(/\.([a-z][\w-]*)(?=[^{}]*\{)/g)].map(([, name = '']) => name));
  return [
    ...[...(canJudgeClasses(pages, file) ? classes : [])]
      .filter((name) => !isMarked(pages, name))
      .map((name) => `${file}: no template or script has the class "${name}"`),
    ...(/&/.test(text) ? [`${file}: nested rules; Chromium 110 ignores them`] : []),
    ...(/(?<!-)user-select/.test(text.replaceAll(/-webkit-user-select: (\w+); user-select: \1/g, ''))
      ? [`${file}: user-select needs -webkit-user-select before it`]
      : []),
  ];
}

/**
 * False for shared style sheets if a capability is missing: they may style what only that capability uses, and deleting it must require no
 * other change.
 */
function canJudgeClasses({ owners, isWhole }: Pages, file: string): boolean {
  return isWhole || owners.has(normalize(file).split(sep)[1] ?? '');
}

/** Also true if the class is built: `layout-<%= it.page.layout %>`. */
function isMarked(pages: Pages, name: string): boolean {
  const [, prefix, end = ''] = /^(.+-)(\w+)$/.exec(name) ?? [];
  return (
    isMarkupWord(pages, name) || (prefix !== undefined && isClassPrefix(pages, prefix) && isMarkupWord(pages, end))
  );
}

function isClassPrefix({ tree, index: { beginnings } }: Pages, prefix: string): boolean {
  return [...beginnings].some(
    ([whole, files]) =>
      (whole.startsWith("'") ? whole === `'${prefix}` : whole.endsWith(prefix)) && existsAny(tree, files),
  );
}

function isMarkupWord({ tree, index }: Pages, name: string): boolean {
  return existsAny(tree, index.words.get(name));
}

function checkTemplate(pages: Pages, file: string): string[] {
  const text = pages.tree.read(file);
  const unknown = [...text.matchAll(/\bit\.t\('([^']+)'/g)]
    .map(([, key = '']) => key)
    .filter((key) => !pages.allKeys.has(key) && !isKeyNamed(pages, 'defined', key));
  const inline = /<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)|javascript:/.exec(text);
  const raw =
    file.endsWith('layout.eta') || file.endsWith('parts/prose.eta')
      ? null
      : /<%~(?! (?:include|it\.icon)\()/.exec(text);
  return [
    ...unknown.map((key) => `${file}: text "${key}" does not exist`),
    ...(inline === null ? [] : [`${file}: ${inline[0].trim()} is blocked by the content security policy`]),
    ...(raw === null ? [] : [`${file}: <%~ prints without escaping`]),
  ];
}
