import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';
import { type Edit, isNode, type Node } from './edit.ts';
import { isEquivalent } from './equivalents.ts';
import { editsOf } from './operators.ts';

/** A source with one small bug. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly operator: string;
  /** The changed lines before and after, without indentation. */
  readonly before: string;
  readonly after: string;
  /** The whole changed source. */
  readonly source: string;
}

/** All mutants of the sources in a folder, or of one file, in a stable order. */
export function mutantsOf(root: string, path: string): readonly Mutant[] {
  const files = path.endsWith('.ts') ? [path] : globSync(`${path}/**/*.ts`, { cwd: root }).toSorted();
  return files.flatMap((file) => mutantsIn(file, readFileSync(join(root, file), 'utf8')));
}

export function mutantsIn(file: string, source: string): readonly Mutant[] {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  return collect(program as unknown as Node, source, [])
    .map((edit) => apply(edit, file, source))
    .filter(({ before, after }) => before !== after)
    .filter((mutant) => !isEquivalent(mutant));
}

/** Types do nothing at run time. */
function collect(node: Node, source: string, parents: readonly Node[]): readonly Edit[] {
  if (node.type.startsWith('TSType') || node.type.startsWith('TSInterface') || node.type === 'ImportDeclaration')
    return [];
  const inside = [node, ...parents];
  const children = Object.values(node).flat().filter(isNode);
  return [...editsOf(node, { source, parents }), ...children.flatMap((child) => collect(child, source, inside))];
}

function apply({ start, end, text, operator }: Edit, file: string, source: string): Mutant {
  const changed = source.slice(0, start) + text + source.slice(end);
  const from = source.lastIndexOf('\n', start - 1) + 1;
  const to = endOfLine(source, end);
  return {
    file,
    line: source.slice(0, start).split('\n').length,
    operator,
    before: oneLine(source.slice(from, to)),
    after: oneLine(changed.slice(from, to + changed.length - source.length)),
    source: changed,
  };
}

function endOfLine(source: string, from: number): number {
  const end = source.indexOf('\n', from);
  return end === -1 ? source.length : end;
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();
