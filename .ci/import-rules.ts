/** The import rules, checked on the module graph. */

/** The project's modules that each module imports. Paths are relative to the root. */
export type ModuleGraph = ReadonlyMap<string, readonly string[]>;

/** The floors of core, from the top. A module may import its own floor and those below. */
export const floors = ['process', 'extension', 'web', 'business', 'gateway', 'config', 'platform'];
const entries = new Set(['core/main.ts', 'core/index.ts']); // may import every floor: the entry of the process, and the one for plugins

export function findForbidden(graph: ModuleGraph): string[] {
  return [...graph].flatMap(([file, targets]) => [
    ...findMisplaced(file),
    ...targets.flatMap((target) => findForbiddenImport(file, target)),
  ]);
}

export interface PluginContract {
  readonly contract: Readonly<Record<string, readonly string[]>>; // for any plugin, by core folder
  readonly shared: Readonly<Record<string, readonly string[]>>; // for plugins that share a capability with core
}

export function findOutsideContract(graph: ModuleGraph, { contract, shared }: PluginContract): string[] {
  const open = new Set(Object.entries(contract).flatMap(([folder, names]) => names.map((name) => `${folder}/${name}`)));
  const used = new Set<string>();
  const mistakes: string[] = [];
  for (const [file, targets] of graph) {
    const [top, plugin = ''] = file.split('/');
    if (top !== 'plugins') continue;
    for (const target of targets) {
      if (!target.startsWith('core/') || open.has(target)) continue;
      if (shared[target]?.includes(plugin) === true) used.add(`${target} ${plugin}`);
      else mistakes.push(`${file}: ${target} is core's own; use what .ci/plugin-contract.yaml lists, or list it there`);
    }
  }
  const plugins = new Set(
    [...graph.keys()].filter((file) => file.startsWith('plugins/')).map((file) => file.split('/')[1]),
  );
  return [
    ...mistakes,
    ...[...open, ...Object.keys(shared)]
      .filter((file) => !graph.has(file))
      .map((file) => `${file}: is in .ci/plugin-contract.yaml, but does not exist`),
    // Rows of a deleted plugin stay, because deleting a plugin must require no other change.
    ...Object.entries(shared).flatMap(([file, names]) =>
      names
        .filter((name) => plugins.has(name) && !used.has(`${file} ${name}`))
        .map((name) => `${file}: ${name} no longer imports it; take it out of .ci/plugin-contract.yaml`),
    ),
  ];
}

/** Imports and comments at the start of a module. Code examples in its texts come later. */
const beginning = /^(?:\s|\/\*[^]*?\*\/|\/\/.*|import\s[^;]*;)*/;
const packageImport = /^import\s+(?!type\s)(?:[^;'"]*?from\s+)?'([^'.#][^']*)'/gm;

/** Finds imports that fail if only production dependencies are installed. Types may be imported from any package. */
export function findDevelopmentImports(file: string, text: string, packages: ReadonlySet<string>): string[] {
  if (!/^(core|plugins|migrations)\//.test(file)) return [];
  const [imports = ''] = beginning.exec(text) ?? [];
  return [...imports.matchAll(packageImport)]
    .map(([, specifier = '']) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'))
    .filter((name) => packages.has(name))
    .map((name) => `${file}: imports ${name}, a development dependency; import its types only (import type)`);
}

function findForbiddenImport(file: string, target: string): string[] {
  const [from = '', owner = ''] = file.split('/');
  const [to = '', other = ''] = target.split('/');
  if (from === 'core' && to !== 'core') return [`${file}: core imports ${target}`];
  if (from === 'core') return findUpwardImport(file, target);
  if (from === 'plugins' && to === 'plugins' && owner !== other)
    return [`${file}: a plugin imports another, ${target}`];
  if (from === 'plugins' && to !== 'plugins' && to !== 'core') return [`${file}: a plugin imports ${target}`];
  if (from === 'migrations' && to !== 'migrations' && to !== 'core') return [`${file}: a migration imports ${target}`];
  return [];
}

function findMisplaced(file: string): string[] {
  if (!file.startsWith('core/') || entries.has(file) || floors.includes(floorOf(file))) return [];
  return [`${file}: is on no floor of core; put it in one of ${floors.join(', ')} (docs/architecture.md)`];
}

function findUpwardImport(file: string, target: string): string[] {
  const height = (path: string) => (entries.has(path) ? -1 : floors.indexOf(floorOf(path)));
  if (height(target) >= height(file)) return [];
  const advice = `let a caller above pass it in, or move the part that both need down to ${floorOf(file)}`;
  return [
    `${file}: imports ${target}, which is a floor above; imports only go down (${floors.join(' > ')}): ${advice}`,
  ];
}

function floorOf(path: string): string {
  return path.split('/')[1] ?? '';
}

export interface Cycle {
  readonly folder: string;
  readonly members: readonly string[]; // names in that folder, sorted
  readonly imports: readonly string[]; // one for each pair in which one imports the other
}

export function findFolderCycles(graph: ModuleGraph): Cycle[] {
  return [...buildSiblingGraphs(graph)].flatMap(([folder, siblings]) =>
    findComponents(siblings).map((members) => ({
      folder,
      members: members.toSorted(),
      imports: members.flatMap((from) =>
        members.flatMap((to) => (to === from ? [] : (siblings.get(from)?.get(to) ?? []))),
      ),
    })),
  );
}

/** Maps each entry of one folder to the other entries that it needs, each with one import that shows it. */
type Siblings = Map<string, Map<string, string>>;

function buildSiblingGraphs(graph: ModuleGraph): ReadonlyMap<string, Siblings> {
  const graphs = new Map<string, Siblings>();
  for (const [file, targets] of graph) {
    if (!/^(core|plugins)\//.test(file)) continue;
    for (const target of targets) {
      const [folder, from, to] = splitAtCommonFolder(file, target);
      const siblings = graphs.get(folder) ?? new Map<string, Map<string, string>>();
      graphs.set(folder, siblings);
      const needed = siblings.get(from) ?? new Map<string, string>();
      siblings.set(from, needed);
      if (!needed.has(to)) needed.set(to, `${file} imports ${target}`);
    }
  }
  return graphs;
}

function splitAtCommonFolder(file: string, target: string): [folder: string, from: string, to: string] {
  const [a, b] = [file.split('/'), target.split('/')];
  const depth = a.findIndex((name, index) => name !== b[index]);
  return [a.slice(0, depth).join('/'), a[depth] ?? '', b[depth] ?? ''];
}

/** Strongly connected components of two or more (Tarjan, SIAM J. Comput. 1972). */
function findComponents(siblings: Siblings): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const path: string[] = [];
  const circles: string[][] = [];
  const visit = (name: string): number => {
    order.set(name, order.size);
    lowest.set(name, order.get(name)!);
    path.push(name);
    for (const next of siblings.get(name)?.keys() ?? []) {
      const reached = order.has(next) ? (path.includes(next) ? order.get(next)! : Infinity) : visit(next);
      lowest.set(name, Math.min(lowest.get(name)!, reached));
    }
    if (lowest.get(name) === order.get(name)) {
      const circle = path.splice(path.indexOf(name));
      if (circle.length > 1) circles.push(circle);
    }
    return lowest.get(name)!;
  };
  for (const name of siblings.keys()) if (!order.has(name)) visit(name);
  return circles;
}

/** Includes type imports. Two files that need each other's types should be one file, or need a third. */
export function findFileCycles(graph: ModuleGraph): string[] {
  const finished = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) {
      found.push(`cycle: ${[...trail.slice(trail.indexOf(file)), file].join(' → ')}`);
      return;
    }
    if (finished.has(file)) return;
    for (const target of graph.get(file) ?? []) visit(target, [...trail, file]);
    finished.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return found;
}

export function describeCycle({ folder, members, imports }: Cycle): string {
  const advice = 'move what both need into the lower one, or let a caller pass it in';
  return `${folder}: ${members.join(', ')} form an import cycle: ${advice}\n  ${imports.join('\n  ')}`;
}
