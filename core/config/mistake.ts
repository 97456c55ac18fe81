import { closestMatch } from 'leven';
import type { YamlPath } from './section.ts';

/** One thing that is wrong in gateway.yaml, and what would be right. */
export interface Mistake {
  readonly file: string;
  readonly line: number; // 1 is the first; 0 where the file as a whole is meant
  readonly column: number;
  readonly path: YamlPath;
  readonly wrong: string;
  readonly right: string;
}

/** Everything that is wrong with a configuration, in the order of the file. Nothing has been changed by it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    const sorted = mistakes.toSorted((a, b) => a.line - b.line || a.column - b.column);
    super([...new Set(sorted.map(formatMistake))].join('\n'));
    this.mistakes = sorted;
  }
}

/** `gateway.yaml:12:5 models.gpt-5.routes[0]: what is wrong; what would be right` */
export function formatMistake({ file, line, column, path, wrong, right }: Mistake): string {
  const place = line === 0 ? file : `${file}:${line}:${column}`;
  const name = formatPath(path);
  return `${place}${name === '' ? '' : ` ${name}`}: ${wrong}; ${right}`;
}

function formatPath(path: YamlPath): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

/** ` did you mean "x"?` when one of the names is near, else what there is. */
export function suggest(name: string, names: readonly string[]): string {
  const near = closestName(name, names);
  if (near !== undefined) return `did you mean "${near}"?`;
  return names.length === 0 ? 'there is none to name' : `use one of: ${names.join(', ')}`;
}

/** The name that differs least, if it is near enough to be meant. */
export function closestName(name: string, names: readonly string[]): string | undefined {
  // Never all of a short name: one that shares nothing with it was not meant.
  const bound = Math.min(Math.max(2, Math.floor(name.length / 3)), name.length - 1);
  return names.length === 0 || bound < 1
    ? undefined
    : closestMatch(name.slice(0, 100), [...names], { maxDistance: bound });
}

/**
 * True when a name that nobody knows may belong to a plugin that could not be loaded: when it is not near to a known name
 * that the file does without, and so hardly a slip of the pen.
 */
export function mayBeForeign(name: string, known: readonly string[], used: readonly string[]): boolean {
  const near = closestName(name, known);
  return near === undefined || used.includes(near);
}
