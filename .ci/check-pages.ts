/**
 * Holds pages in order. Texts: the same keys and placeholders in every language, each used somewhere, and none used that does
 * not exist, and no word that docs/glossary.md rules out. Templates: nothing inline that the policy would block, nothing printed unescaped outside of the layout, and each
 * in the folder of its plugin. Templates and style sheets that are named are there. Style sheets have only classes that something has, and only
 * what the oldest supported browsers know.
 */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join, normalize, sep } from 'node:path';
import { parse } from 'yaml';
import { type DeletionTable, rowsOf } from './deletion-rules.ts';

type Text = string | Record<string, string>;
type Texts = Record<string, Text>;

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const find = (pattern: string) => globSync(pattern, { cwd: root });

const folders = find('{core,plugins,docs}/**/texts/en.json').map((file) => file.slice(0, -'en.json'.length));
const templates = find('{views,core,plugins,docs}/**/*.eta');
const views = new Set(find('views/**/*').map((file) => normalize(file)));
const sources = [...templates, ...find('{core,plugins,docs}/**/*.ts')].map(read).join('\n');
/** Where classes come from: templates, browser scripts, view models, and the script that draws charts. */
const marked = [sources, ...find('views/**/*.js').map(read), read('node_modules/uplot/dist/uPlot.iife.min.js')].join(
  '\n',
);
const allKeys = new Set(folders.flatMap((folder) => Object.keys(JSON.parse(read(`${folder}en.json`)) as Texts)));

/** Words that texts of a language do not use, each with the row of the glossary that says so. */
const ruledOut = { en: readWords(4), id: readWords(5) };

/** What can be deleted. */
const capabilities = Object.keys(
  rowsOf(parse(read('.ci/deletion.yaml')) as DeletionTable, read('docs/architecture.md')),
);
const owners = new Set(['shell', 'parts', ...readdirSync(join(root, 'plugins'))]);
const mistakes = [
  ...folders.flatMap(checkTexts),
  ...templates.flatMap(checkTemplate),
  ...templates.flatMap(checkPlace),
  ...[...templates, ...find('{core,plugins}/**/*.ts')].flatMap(checkFiles),
  ...find('views/**/*.css').flatMap(checkStyle),
];
for (const line of mistakes) console.error(line);
if (mistakes.length > 0) process.exit(1);
console.log(`pages: ${allKeys.size} texts in 2 languages, ${templates.length} templates`);

function checkTexts(folder: string): string[] {
  const en = JSON.parse(read(`${folder}en.json`)) as Texts;
  const id = JSON.parse(read(`${folder}id.json`)) as Texts;
  return [
    ...missing(en, id).map((key) => `${folder}id.json: "${key}" is missing`),
    ...missing(id, en).map((key) => `${folder}en.json: "${key}" is missing`),
    ...Object.keys(en)
      .filter((key) => key in id && placeholders(en[key]) !== placeholders(id[key]))
      .map((key) => `${folder}id.json: "${key}" has other placeholders than in en.json`),
    ...Object.keys(en)
      .filter((key) => !isUsed(key))
      .map((key) => `${folder}en.json: "${key}" is not used`),
    ...checkWords(`${folder}en.json`, en, ruledOut.en),
    ...checkWords(`${folder}id.json`, id, ruledOut.id),
  ];
}

interface RuledOut {
  readonly pattern: RegExp;
  /** What is said instead: `API key, key`. */
  readonly terms: string;
}

/** @param column of the table in the glossary */
function readWords(column: number): RuledOut[] {
  const rows = read('docs/glossary.md')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.slice(1).flatMap((cells) =>
    (cells[column] ?? '')
      .split(', ')
      .filter((word) => word !== '')
      // Not within a placeholder: `{key}`.
      .map((word) => ({ pattern: new RegExp(`(?<![\\w{])${word}(?![\\w}])`, 'i'), terms: cells[column - 3] ?? '' })),
  );
}

function checkWords(file: string, texts: Texts, words: readonly RuledOut[]): string[] {
  return Object.entries(texts).flatMap(([key, text]) => {
    const whole = typeof text === 'string' ? text : Object.values(text).join(' ');
    return words.flatMap(({ pattern, terms }) => {
      const rest = terms.split(', ').reduce((left, term) => left.replaceAll(new RegExp(term, 'gi'), ''), whole);
      const [word] = pattern.exec(rest) ?? [];
      return word === undefined ? [] : [`${file}: "${key}" says "${word}"; docs/glossary.md: ${terms}`];
    });
  });
}

function missing(texts: Texts, others: Texts): string[] {
  return Object.keys(texts).filter((key) => !(key in others));
}

/** Of the form for many: that for one may do without its number. */
function placeholders(text: Text = ''): string {
  const whole = typeof text === 'string' ? text : (text['other'] ?? '');
  return [...new Set(whole.match(/\{\w+\}/g))].toSorted().join(' ');
}

/** Written as it is, as the title of an error page, or put together after a prefix: `theme.${name}`, `choice('theme')`, the texts of a field. */
function isUsed(key: string): boolean {
  const plain = key.replace(/\.title$/, '');
  const prefixes = key
    .split('.')
    .map((_, index, parts) => parts.slice(0, index).join('.'))
    .slice(1)
    .flatMap((prefix) => [`\`${prefix}.\${`, `choice('${prefix}')`, `texts: '${prefix}'`]);
  return [`'${key}'`, `'${plain}'`, ...prefixes].some((form) => sources.includes(form));
}

function checkPlace(file: string): string[] {
  const [top, owner = ''] = normalize(file).split(sep);
  if (top !== 'views' || owners.has(owner)) return [];
  return [`${file}: put it in views/PLUGIN/, or in views/parts/ if several plugins use it`];
}

/** Templates that include, and pages that name, a template or a style sheet. */
function checkFiles(file: string): string[] {
  const text = read(file);
  const included = text.matchAll(/\binclude\('\/([^']+)'/g).map(([, path]) => `views/${path}.eta`);
  const shown = file.endsWith('.ts') ? text.matchAll(/'(\w[\w/-]*\.(?:eta|css))'/g) : [];
  const lost = [...included, ...[...shown].map(([, path]) => `views/${path}`)].filter((path) => !views.has(path));
  return lost.map((path) => `${file}: ${path} does not exist`);
}

/** Browsers that the pages support: Chromium 110 knows no nesting, WebKit only its own name of `user-select`. */
function checkStyle(file: string): string[] {
  const text = read(file).replaceAll(/\/\*[^]*?\*\//g, '');
  const classes = new Set([...text.matchAll(/\.([a-z][\w-]*)(?=[^{}]*\{)/g)].map(([, name = '']) => name));
  return [
    ...[...(canJudgeClasses(file) ? classes : [])]
      .filter((name) => !isMarked(name))
      .map((name) => `${file}: no template or script has the class "${name}"`),
    ...(/&/.test(text) ? [`${file}: nested rules; Chromium 110 ignores them`] : []),
    ...(/(?<!-)user-select/.test(text.replaceAll(/-webkit-user-select: (\w+); user-select: \1/g, ''))
      ? [`${file}: user-select needs -webkit-user-select before it`]
      : []),
  ];
}

/** Shared sheets hold parts that a single capability may use, which can be deleted with nothing else changed. */
function canJudgeClasses(file: string): boolean {
  return owners.has(normalize(file).split(sep)[1] ?? '') || capabilities.every((name) => owners.has(name));
}

/** Written as it is, or put together: `layout-<%= it.page.layout %>`. */
function isMarked(name: string): boolean {
  const [, prefix, end = ''] = /^(.+-)(\w+)$/.exec(name) ?? [];
  return isWord(name) || ([`${prefix}<%=`, `'${prefix}' +`].some((form) => marked.includes(form)) && isWord(end));
}

function isWord(name: string): boolean {
  return new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(marked);
}

function checkTemplate(file: string): string[] {
  const text = read(file);
  const unknown = [...text.matchAll(/it\.t\('([^']+)'/g)]
    .map(([, key = '']) => key)
    .filter((key) => !allKeys.has(key) && !sources.includes(`'${key}':`));
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
