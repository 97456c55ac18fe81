import { closestMatch } from 'leven';
import { exitCodes } from '#core/platform/exit-codes.ts';
import type { YamlPath } from '../section.ts';

export interface Mistake {
  readonly file: string;
  readonly line: number; // starts at 1; 0 for the whole file
  readonly column: number;
  readonly path: YamlPath;
  readonly wrong: string;
  readonly right: string;
  /** True if the next start may succeed without a change: a file may appear later, or code failed. */
  readonly isTransient?: boolean;
}

/** Reports all mistakes in a configuration, in the order of the file. The running configuration stays in effect. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly exitCode: number;

  constructor(mistakes: readonly Mistake[]) {
    const sorted = mistakes.toSorted((a, b) => a.line - b.line || a.column - b.column);
    super([...new Set(sorted.map(formatMistake))].join('\n'));
    const isPermanent = sorted.some(({ isTransient }) => isTransient !== true);
    this.exitCode = isPermanent ? exitCodes.configuration : exitCodes.failure;
  }
}

/** Formats a mistake: `gateway.yaml:12:5 models.gpt-6-sol.routes[0]: what is wrong; what is expected`. */
export function formatMistake({ file, line, column, path, wrong, right }: Mistake): string {
  const place = line === 0 ? file : `${file}:${line}:${column}`;
  const name = formatPath(path);
  return `${place}${name === '' ? '' : ` ${name}`}: ${wrong}; ${right}`;
}

function formatPath(path: YamlPath): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  return text.startsWith('.') ? text.slice(1) : text;
}

/** Returns `did you mean "x"?` if one of the names is similar, otherwise a list of all names. */
export function suggest(name: string, names: readonly string[]): string {
  const similar = findClosestName(name, names);
  if (similar !== undefined) return `did you mean "${similar}"?`;
  return names.length === 0 ? 'there are none' : `use one of: ${names.join(', ')}`;
}

const maxComparedLength = 100; // a longer name is no typo, and comparing it with thousands of names would take milliseconds

export function findClosestName(name: string, names: readonly string[]): string | undefined {
  // In a short name, at least one character must be the same.
  const maxDistance = Math.min(Math.max(2, Math.floor(name.length / 3)), name.length - 1);
  return names.length === 0 || maxDistance < 1 || name.length > maxComparedLength
    ? undefined
    : closestMatch(name, [...names], { maxDistance });
}

/**
 * Returns true if an unknown name may belong to a plugin that could not be loaded. Returns false if it is probably a typo: it is similar to
 * a known name that the file does not use.
 */
export function canBelongToPlugin(name: string, knownNames: readonly string[], usedNames: readonly string[]): boolean {
  const similar = findClosestName(name, knownNames);
  return similar === undefined || usedNames.includes(similar);
}
