/** How much of the product belongs to which capability, and over how many rooms what names a capability is spread. */

/** Production files by path from the root, and their texts. */
export type Sources = ReadonlyMap<string, string>;

export interface Weight {
  readonly files: number;
  readonly lines: number;
}

/** A row of the table: a capability, its most files and lines, and the paths that it consists of. */
export interface WeightRow {
  readonly most: Weight;
  readonly of: readonly string[];
}

/** The table in `.ci/weight.yaml`: rows by group and name; rooms at most by word. */
export interface WeightTable {
  readonly weight: Readonly<Record<string, Readonly<Record<string, WeightRow>>>>;
  readonly spread: Readonly<Record<string, number>>;
}

/** What each row weighs now, and what does not fit the table, one sentence each. */
export interface Weighed {
  readonly rows: ReadonlyMap<string, Weight>;
  /** Files of no row. */
  readonly mistakes: readonly string[];
  /** Paths without a file: a capability may be deleted. */
  readonly notes: readonly string[];
}

/** Weighs the rows of a table. Every file belongs to the row with the longest path that it is, or lies below. */
export function weigh(sources: Sources, { weight }: WeightTable): Weighed {
  const rows = Object.values(weight).flatMap((group) => Object.entries(group));
  const owners = new Map(rows.flatMap(([name, { of }]) => of.map((path) => [path, name] as const)));
  const used = new Set<string>();
  const sums = new Map(rows.map(([name]) => [name, { files: 0, lines: 0 }]));
  const mistakes: string[] = [];
  for (const [file, text] of sources) {
    const path = upwards(file).find((at) => owners.has(at));
    const sum = sums.get(owners.get(path ?? '') ?? '');
    if (path === undefined || sum === undefined) {
      mistakes.push(`${file}: belongs to no row of .ci/weight.yaml`);
      continue;
    }
    used.add(path);
    sum.files += 1;
    sum.lines += linesOf(text);
  }
  const notes = [...owners]
    .filter(([path]) => !used.has(path))
    .map(([path, name]) => `.ci/weight.yaml: nothing of "${name}" is in ${path} any more`);
  return { rows: sums, mistakes, notes };
}

/** Rows that are heavier than the table allows, one sentence for each. */
export function findHeavier(now: ReadonlyMap<string, Weight>, { weight }: WeightTable): string[] {
  return Object.values(weight)
    .flatMap((group) => Object.entries(group))
    .flatMap(([name, { most }]) => {
      const { files = 0, lines = 0 } = now.get(name) ?? {};
      const grown = [
        ...(files > most.files ? [`${files} files instead of ${most.files}`] : []),
        ...(lines > most.lines ? [`${lines} lines instead of ${most.lines}`] : []),
      ];
      if (grown.length === 0) return [];
      return [`"${name}" has ${grown.join(' and ')}: make it lighter, or raise its ceiling and say why in the commit`];
    });
}

/** The rooms whose files name each word, sorted. Style sheets do not count, nor do migrations, which stay as they are. */
export function findRooms(sources: Sources, words: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const counted = [...sources].filter(([file]) => !file.startsWith('migrations/') && !file.endsWith('.css'));
  return new Map(
    words.map((word) => {
      const named = new RegExp(word, 'i');
      const rooms = counted.filter(([, text]) => named.test(text)).map(([file]) => roomOf(file));
      return [word, [...new Set(rooms)].toSorted()];
    }),
  );
}

/** Words that are spread over more rooms than the table allows, one sentence each. */
export function findWider(rooms: ReadonlyMap<string, readonly string[]>, { spread }: WeightTable): string[] {
  return Object.entries(spread).flatMap(([word, most]) => {
    const found = rooms.get(word) ?? [];
    if (found.length <= most) return [];
    return [`"${word}" is named in ${found.length} rooms instead of ${most}: ${found.join(', ')}`];
  });
}

/** The text of the table with other ceilings. Comments and order stay. */
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

/** `core/FLOOR/FOLDER`, `plugins/NAME` or `views/NAME`, or what holds files that are in none. */
function roomOf(file: string): string {
  const folders = file.split('/').slice(0, -1);
  return folders.slice(0, folders[0] === 'core' ? 3 : 2).join('/');
}

/** The path, then the folders that hold it, the nearest first. */
function upwards(path: string): string[] {
  const names = path.split('/');
  return names.map((_, index) => names.slice(0, names.length - index).join('/'));
}

function linesOf(text: string): number {
  return text.split('\n').length - 1;
}
