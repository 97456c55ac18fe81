import { closestMatch } from 'leven';
import { exitCodes } from '#core/platform/exit-codes.ts';
import type { YamlPath } from '../section.ts';

/** One mistake in gateway.yaml, and the expected form. */
export interface Mistake {
  readonly file: string;
  readonly line: number; // counts from 1; 0 for the file as a whole
  readonly column: number;
  readonly path: YamlPath;
  readonly wrong: string;
  readonly right: string;
  /** True if the next start may succeed unchanged: the mistake concerns a file that may appear later, or code that failed. */
  readonly isTransient?: boolean;
}

/** All mistakes of a configuration, in the order of the file. The running configuration has not changed. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly mistakes: readonly Mistake[];
  readonly exitCode: number;

  constructor(mistakes: readonly Mistake[]) {
    const sorted = mistakes.toSorted((a, b) => a.line - b.line || a.column - b.column);
    super([...new Set(sorted.map(formatMistake))].join('\n'));
    this.mistakes = sorted;
    const isPermanent = sorted.some(({ isTransient }) => isTransient !== true);
    this.exitCode = isPermanent ? exitCodes.configuration : exitCodes.failure;
  }
}

/** Formats `gateway.yaml:12:5 models.gpt-6-sol.routes[0]: what is wrong; what is expected` */
export function formatMistake({ file, line, column, path, wrong, right }: Mistake): string {
  const place = line === 0 ? file : `${file}:${line}:${column}`;
  const name = formatPath(path);
  return `${place}${name === '' ? '' : ` ${name}`}: ${wrong}; ${right}`;
}

function formatPath(path: YamlPath): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

/** Returns `did you mean "x"?` if one of the names is similar, else lists all names. */
export function suggest(name: string, names: readonly string[]): string {
  const near = closestName(name, names);
  if (near !== undefined) return `did you mean "${near}"?`;
  return names.length === 0 ? 'there are none' : `use one of: ${names.join(', ')}`;
}

/** Maximum characters of a compared name; a longer one is not a typo, and comparing it with thousands of names takes milliseconds. */
const maxComparedLength = 200;

/** Returns the most similar name, if it is similar enough. */
export function closestName(name: string, names: readonly string[]): string | undefined {
  // Not all characters of a short name may differ.
  const bound = Math.min(Math.max(2, Math.floor(name.length / 3)), name.length - 1);
  return names.length === 0 || bound < 1 || name.length > maxComparedLength
    ? undefined
    : closestMatch(name.slice(0, 100), [...names], { maxDistance: bound });
}

/**
 * Returns true if an unknown name may belong to a plugin that could not be loaded: it is not similar to a known name that the file does not
 * use, and so probably not a typo.
 */
export function mayBeForeign(name: string, known: readonly string[], used: readonly string[]): boolean {
  const near = closestName(name, known);
  return near === undefined || used.includes(near);
}
