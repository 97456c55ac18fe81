/**
 * Checks that no two exported types of core and plugins share a name, that only what others import is exported, and that no export exists
 * for tests alone.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findTestedOnly, findUnusedExports } from './export-rules.ts';
import { resolveSpecifier } from './module-graph.ts';

const root = join(import.meta.dirname, '..');
const declaration = /^export (?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm;

const paths = globSync('{core,plugins,migrations,test,bench,docs,.ci}/**/*.{ts,mjs}', { cwd: root });
const sources = new Map(paths.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
const homes = new Map<string, string[]>();
for (const [file, text] of sources)
  if (/^(core|plugins)\/.*\.ts$/.test(file))
    for (const [, name = ''] of text.matchAll(declaration)) homes.set(name, [...(homes.get(name) ?? []), file]);

const shared = [...homes].filter(([, files]) => files.length > 1);
for (const [name, files] of shared) console.error(`type ${name} is exported by ${files.join(' and ')}`);
/** Types that appear in inferred types, so a build's declarations name them. */
const inferred = new Set(['ChartBar', 'FigureTile', 'NavigationEntry', 'RequestDay', 'Verdict']);
const unused = findUnusedExports(sources, resolveSpecifier).filter(({ name }) => !inferred.has(name));
for (const { file, name } of unused) console.error(`${file}: ${name} is exported but not imported; remove its export`);
const testedOnly = findTestedOnly(sources, resolveSpecifier).filter(({ name }) => !inferred.has(name));
for (const { file, name } of testedOnly) console.error(`${file}: only tests use ${name}; remove it, or use it`);
if (shared.length > 0 || unused.length > 0 || testedOnly.length > 0) process.exit(1);
console.log(`names: ${homes.size} exported types, each in one file; every export is imported`);
