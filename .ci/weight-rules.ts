/** How much code belongs to each capability, and over how many folders the code that names a capability is spread. */

export type Sources = ReadonlyMap<string, string>; // of production files, by path from the root

export interface Weight {
  readonly files: number;
  readonly lines: number;
}

export interface WeightRow {
  readonly most: Weight;
  readonly of: readonly string[];
}

export interface WeightTable {
  readonly capability: Weight;
  readonly weight: Readonly<Record<string, Readonly<Record<string, WeightRow>>>>;
  readonly spread: Readonly<Record<string, number>>;
}

export interface Weighed {
  readonly rows: ReadonlyMap<string, Weight>;
  readonly mistakes: readonly string[]; // files that belong to no row
  readonly notes: readonly string[]; // paths that have no file, because a capability may be deleted
}

/**
 * A file belongs to the row with the longest path that equals it or contains it. The files of a plugin without a row, and its views, form a
 * row of the plugin's name.
 */
export function weigh(sources: Sources, { weight }: WeightTable): Weighed {
  const rows = Object.values(weight).flatMap((group) => Object.entries(group));
  const listed = rows.flatMap(([name, { of }]) => of.map((path) => [path, name] as const));
  const unlisted = findUnlistedPlugins(sources, new Set(listed.map(([path]) => path)));
  const owners = new Map([...listed, ...unlisted]);
  const used = new Set(unlisted.map(([path]) => path));
  const sums = new Map([...owners.values()].map((name) => [name, { files: 0, lines: 0 }]));
  const mistakes: string[] = [];
  for (const [file, text] of sources) {
    const path = listAncestors(file).find((at) => owners.has(at));
    const sum = sums.get(owners.get(path ?? '') ?? '');
    if (path === undefined || sum === undefined) {
      mistakes.push(`${file}: belongs to no row of .ci/weight.yaml`);
      continue;
    }
    used.add(path);
    sum.files += 1;
    sum.lines += countLines(text);
  }
  const notes = [...owners]
    .filter(([path]) => !used.has(path))
    .map(([path, name]) => `.ci/weight.yaml: nothing of "${name}" is in ${path} any more`);
  return { rows: sums, mistakes, notes };
}

function findUnlistedPlugins(sources: Sources, listed: ReadonlySet<string>): (readonly [path: string, name: string])[] {
  const names = [...sources.keys()].map((file) => /^plugins\/([^/]+)\//.exec(file)?.[1] ?? '');
  const known = new Set([...listed].map((path) => path.split('/').slice(0, 2).join('/')));
  return [...new Set(names)].flatMap((name) =>
    name === '' || known.has(`plugins/${name}`)
      ? []
      : [`plugins/${name}`, `views/${name}`].map((path) => [path, name] as const),
  );
}

export function findOverweightRows(now: ReadonlyMap<string, Weight>, { weight, capability }: WeightTable): string[] {
  const ceilings = new Map(Object.values(weight).flatMap((group) => Object.entries(group)));
  return [...now].flatMap(([name, { files, lines }]) => {
    const most = ceilings.get(name)?.most ?? capability;
    const grown = [
      ...(files > most.files ? [`${files} files instead of ${most.files}`] : []),
      ...(lines > most.lines ? [`${lines} lines instead of ${most.lines}`] : []),
    ];
    if (grown.length === 0) return [];
    const remedy = ceilings.has(name) ? 'raise its ceiling' : 'give it a row in .ci/weight.yaml';
    return [`"${name}" has ${grown.join(' and ')}: make it lighter, or ${remedy} and say why in the commit`];
  });
}

/**
 * Returns, for each word, the rooms (see `roomOf`) whose files contain it, sorted. Style sheets do not count. Nor do CSS declarations
 * elsewhere, such as `margin: 0 auto`, or migrations, which never change.
 */
export function findRooms(sources: Sources, words: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const counted = [...sources].filter(([file]) => !file.startsWith('migrations/') && !file.endsWith('.css'));
  return new Map(
    words.map((word) => {
      const named = new RegExp(word, 'i');
      const declared = new RegExp(`${word}(?:-[a-z]+)?: ?(?:auto|0|-?[\\d.]+(?:px|mm|pt|r?em|%))(?=[\\s;"'}])`, 'g');
      const rooms = counted.filter(([, text]) => named.test(text.replace(declared, ''))).map(([file]) => roomOf(file));
      return [word, [...new Set(rooms)].toSorted()];
    }),
  );
}

export function findWidespreadWords(rooms: ReadonlyMap<string, readonly string[]>, { spread }: WeightTable): string[] {
  return Object.entries(spread).flatMap(([word, most]) => {
    const found = rooms.get(word) ?? [];
    if (found.length <= most) return [];
    return [`"${word}" is named in ${found.length} rooms instead of ${most}: ${found.join(', ')}`];
  });
}

/** Keeps comments and order. */
export function withCeilings(
  table: string,
  rows: ReadonlyMap<string, Weight>,
  rooms: ReadonlyMap<string, readonly string[]>,
): string {
  return table
    .replace(/^( {4}(.+):\n {6}most: ).*$/gm, (line, before: string, name: string) => {
      const { files, lines } = rows.get(name) ?? {};
      return files === undefined ? line : `${before}{ files: ${files}, lines: ${lines} }`;
    })
    .replace(/^( {2}(\w+): )\d+$/gm, (line, before: string, word: string) => {
      const found = rooms.get(word);
      return found === undefined ? line : `${before}${found.length}`;
    });
}

/** Returns `core/FLOOR/FOLDER`, `plugins/NAME` or `views/NAME`; for files outside of these, the folder that contains them. */
function roomOf(file: string): string {
  const folders = file.split('/').slice(0, -1);
  return folders.slice(0, folders[0] === 'core' ? 3 : 2).join('/');
}

function listAncestors(path: string): string[] {
  const names = path.split('/');
  return names.map((_, index) => names.slice(0, names.length - index).join('/'));
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}
