import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { isAbsent } from './absent.ts';
import { readPage } from './markdown.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const bytesOf = (file: string) => statSync(join(root, file)).size;
const isText =
  /\.(?:md|ts|mts|mjs|js|json|ya?ml|eta|service|conf|cfg|sh|ps1|env|css)$|Containerfile$|Caddyfile$|\/run$/;
/** Every file of the repository, without what tests use as input. */
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => isText.test(file) && !file.startsWith('test/fixtures/') && existsSync(join(root, file)));
const pages = files.filter((file) => file.endsWith('.md'));
/** It describes former versions, and the pages as they were then. */
const changelog = 'CHANGELOG.md';

const anchorsOf = (file: string) => readPage(read(file)).anchors;

/** What is wrong with a path below the repository, perhaps with an anchor; undefined if nothing is. */
function complain(target: string, hasAnchors: boolean): string | undefined {
  const [path = '', anchor] = target.split('#');
  if (!existsSync(join(root, path))) return isAbsent(path) ? undefined : `${path} does not exist`;
  if (anchor === undefined || !hasAnchors || !path.endsWith('.md')) return undefined;
  return anchorsOf(path).has(anchor) ? undefined : `${path} has no section #${anchor}`;
}

it.each(pages)('every link of %s leads to a file and a section that exist', (page) => {
  const wrong = readPage(read(page)).links.flatMap((link) => {
    if (/^(?:[a-z]+:|\/)/.test(link)) return [];
    const target = link.startsWith('#') ? `${page}${link}` : normalize(join(dirname(page), link));
    return complain(target, page !== changelog) ?? [];
  });
  expect(wrong).toEqual([]);
});

it('code, messages, schemas, views and deployed files name pages and sections of docs that exist', () => {
  const wrong = files
    .filter((file) => file !== changelog)
    .flatMap((file) => {
      const text = read(file).replaceAll(/https?:\/\/\S+/g, '');
      const named = text.match(/(?<![\w/.-])docs\/(?:[\w./-]+\.md|decisions\/\d{4})(?:#[\w-]+)?/g) ?? [];
      return named.flatMap((target) => {
        const complaint = /\/\d{4}$/.test(target) ? findDecision(target) : complain(target, true);
        return complaint === undefined ? [] : [`${file}: ${complaint}`];
      });
    });
  expect(wrong).toEqual([]);
});

function findDecision(target: string): string | undefined {
  return files.some((file) => file.startsWith(`${target}-`)) ? undefined : `${target} does not exist`;
}

it('lines of Markdown end at 140 characters outside tables', () => {
  const long = pages
    .filter((page) => page !== changelog)
    .flatMap((page) =>
      read(page)
        .split('\n')
        .flatMap((line, index) => (line.length > 140 && !/^\s*\|/.test(line) ? [`${page}:${index + 1}`] : [])),
    );
  expect(long).toEqual([]);
});

it('the README has at most 10 KB, and every page of docs 40 KB', () => {
  expect(bytesOf('README.md')).toBeLessThanOrEqual(10_240);
  expect(pages.filter((page) => page.startsWith('docs/') && bytesOf(page) > 40_960)).toEqual([]);
});

it('every page of docs is listed in docs/README.md or in the page that leads to its folder', () => {
  const indexes = ['docs/README.md', 'docs/configuration.md', 'docs/operating.md', 'docs/runbooks/README.md'];
  const listed = new Set(
    indexes.flatMap((index) =>
      readPage(read(index)).links.map((link) => normalize(join(dirname(index), link.split('#')[0] ?? ''))),
    ),
  );
  const own = pages.filter((page) => /^docs\/(?!decisions\/|examples\/)/.test(page) && !indexes.includes(page));
  expect(own.filter((page) => !listed.has(page))).toEqual([]);
});
