/**
 * Holds the house in order: imports go plugins → core, no plugin knows another, nothing of the product knows tests, and
 * modules form no cycle, type imports included: two files that need each other's types are one file, or lack a third.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const root = join(import.meta.dirname, '..');
const statement =
  /^(?:import|export)\s+(?:type\s)?[^;'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm;

const files = globSync('{core,plugins,migrations,test,bench,docs}/**/*.ts', { cwd: root }).map((file) =>
  normalize(file),
);
const graph = new Map(files.map((file) => [file, importsOf(file)]));
const broken = [...graph].flatMap(([file, imports]) => imports.flatMap((entry) => brokenRule(file, entry)));
const cycles = findCycles();

for (const line of [...broken, ...cycles]) console.error(line);
if (broken.length + cycles.length > 0) process.exit(1);
console.log(`imports: ${files.length} files, directions kept, no cycle`);

function importsOf(file: string): string[] {
  return readFileSync(join(root, file), 'utf8')
    .matchAll(statement)
    .map(([, from, bare, dynamic]) => resolve(file, from ?? bare ?? dynamic ?? ''))
    .filter((target) => target !== '')
    .toArray();
}

/** The file in this project that a specifier names, or nothing for packages and built-ins. */
function resolve(file: string, specifier: string): string {
  if (specifier.startsWith('#core/')) return normalize(specifier.slice(1));
  return specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : '';
}

function brokenRule(file: string, target: string): string[] {
  const [from, owner] = file.split('/');
  const [to, other] = target.split('/');
  if (!graph.has(target) && !existsSync(join(root, target)))
    return [`${file}: imports ${target}, which does not exist`];
  if (from === 'core' && to !== 'core') return [`${file}: core imports ${target}`];
  if (from === 'plugins' && to === 'plugins' && owner !== other)
    return [`${file}: a plugin imports another, ${target}`];
  if (from === 'plugins' && to !== 'plugins' && to !== 'core') return [`${file}: a plugin imports ${target}`];
  if (from === 'migrations' && to !== 'migrations' && to !== 'core') return [`${file}: a migration imports ${target}`];
  return [];
}

function findCycles(): string[] {
  const finished = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, trail: string[]): void => {
    if (trail.includes(file)) {
      found.push(`cycle: ${[...trail.slice(trail.indexOf(file)), file].join(' → ')}`);
      return;
    }
    if (finished.has(file)) return;
    for (const target of graph.get(file) ?? []) visit(target, [...trail, file]);
    finished.add(file);
  };
  for (const file of files) visit(file, []);
  return found;
}
