/**
 * Checks the size of capabilities: the files and lines of each against the limits in `weight.yaml`, and over how many folders some of them
 * spread. `--write` makes today's figures the limits; `--table` prints them.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import {
  findOverweightRows,
  findRooms,
  findWidespreadWords,
  type Weight,
  weigh,
  type WeightTable,
  withCeilings,
} from './weight-rules.ts';

const root = join(import.meta.dirname, '..');
const file = join(import.meta.dirname, 'weight.yaml');
const text = readFileSync(file, 'utf8');
const table = parse(text) as WeightTable;
const production = '{core,plugins,views,migrations}/**/*.{ts,mjs,js,yaml,eta,css,lua,sh,ps1,as}';
const sources = new Map(
  globSync(production, { cwd: root }).map((path) => [path, readFileSync(join(root, path), 'utf8')]),
);

const { rows, mistakes, notes } = weigh(sources, table);
const rooms = findRooms(sources, Object.keys(table.spread));
const isWriting = process.argv.includes('--write');
if (isWriting) writeFileSync(file, withCeilings(text, rows, rooms));
if (process.argv.includes('--table')) printTable();

const failures = [
  ...mistakes,
  ...(isWriting ? [] : [...findOverweightRows(rows, table), ...findWidespreadWords(rooms, table)]),
];
for (const line of [...notes, ...failures]) console.error(line);
if (failures.length > 0) process.exit(1);
const { files, lines } = sumWeights([...rows.values()]);
const spread = [...rooms].map(([word, found]) => `${word} ${found.length}`).join(', ');
console.log(`weight: ${files} files, ${lines} lines, no row above its ceiling; rooms: ${spread}`);

function printTable(): void {
  const width = Math.max(...[...rows.keys()].map(({ length }) => length));
  const print = (name: string, weight: Weight, most?: Weight) =>
    console.log(
      name.padEnd(width + 2),
      String(weight.files).padStart(5),
      String(weight.lines).padStart(7),
      most === undefined ? '' : String(weight.lines - most.lines).padStart(6),
    );
  for (const [group, members] of Object.entries(table.weight)) {
    const weights = Object.keys(members).map((name) => rows.get(name) ?? { files: 0, lines: 0 });
    print(group, sumWeights(weights));
    for (const [index, [name, { most }]] of Object.entries(members).entries())
      print(`  ${name}`, weights[index] ?? sumWeights([]), most);
  }
}

function sumWeights(weights: readonly Weight[]): Weight {
  return {
    files: weights.reduce((total, weight) => total + weight.files, 0),
    lines: weights.reduce((total, weight) => total + weight.lines, 0),
  };
}
