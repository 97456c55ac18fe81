import type { ImportDraft } from './draft.ts';

/** A file that cannot be imported. The message has no value of it. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
  /** Path of the mistake in the file; undefined for the whole. */
  readonly path: string | undefined;

  constructor(message: string, path?: string) {
    super(message);
    this.path = path;
  }
}

/** Why a member is not taken over, by its name; `''`: it says nothing about what is served, such as statistics. */
export type Reasons = Readonly<Record<string, string>>;

const unknown = 'is not known to this import';

/** An object of the file, of which every member is either read or noted: nothing is dropped without a word. */
export class ImportedObject {
  readonly path: string;
  readonly #members: ReadonlyMap<string, unknown>;
  readonly #left: Set<string>;
  readonly #draft: ImportDraft;

  /** @throws ImportError for a value that is no object */
  constructor(value: unknown, path: string, draft: ImportDraft) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new ImportError(`is ${describe(value)}, but must be an object`, path);
    this.path = path;
    this.#draft = draft;
    this.#members = new Map(Object.entries(value));
    this.#left = new Set(this.#members.keys());
  }

  /** Path of a member. */
  at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  /** The value of a member, which counts as read; undefined for an empty one. */
  take(name: string): unknown {
    this.#left.delete(name);
    const value = this.#members.get(name);
    return isEmpty(value) ? undefined : value;
  }

  /** @throws ImportError for another value */
  text(name: string): string | undefined {
    const value = this.take(name);
    if (value === undefined || typeof value === 'string') return value?.trim();
    if (typeof value === 'number') return String(value);
    throw new ImportError(`is ${describe(value)}, but must be a text`, this.at(name));
  }

  /** Digits in quotes are a number as well: tables that were exported as CSV have only texts. @throws ImportError */
  number(name: string): number | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : value;
    if (typeof number === 'number' && Number.isFinite(number)) return number;
    throw new ImportError(`is ${describe(value)}, but must be a number`, this.at(name));
  }

  /** @throws ImportError for a value that is no list */
  list(name: string): readonly unknown[] {
    const value = this.take(name) ?? [];
    if (Array.isArray(value)) return value;
    throw new ImportError(`is ${describe(value)}, but must be a list`, this.at(name));
  }

  /** A member that is an object, or the text of one, as tables of databases hold it. @throws ImportError */
  members(name: string): ImportedObject | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    return new ImportedObject(typeof value === 'string' ? this.#parse(name, value) : value, this.at(name), this.#draft);
  }

  #parse(name: string, text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw new ImportError('is a text that is not JSON', this.at(name));
    }
  }

  /** Notes all members that have not been read. */
  finish(reasons: Reasons = {}): void {
    for (const name of this.#left) {
      const reason = Object.hasOwn(reasons, name) ? reasons[name] : unknown;
      if (reason !== '' && !isEmpty(this.#members.get(name))) this.#draft.note(this.at(name), reason ?? unknown);
    }
  }

  get names(): string[] {
    return [...this.#members.keys()];
  }
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value === null || value === undefined) return 'missing';
  return typeof value === 'string' ? 'a text' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/**
 * The rows of an exported table: a list, or the list inside of an answer of an API (`data`, `items`) or of an export.
 *
 * @param names of the table
 * @throws ImportError without any
 */
export function rowsOf(value: unknown, ...names: readonly string[]): readonly unknown[] {
  const found = findRows(value, names, 3);
  if (found !== undefined) return found;
  throw new ImportError(`has no list: expected one of rows, or an object with one under "${names.join('" or "')}"`);
}

function findRows(value: unknown, names: readonly string[], depth: number): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null || depth === 0) return undefined;
  for (const name of [...names, 'data', 'items'])
    if (Object.hasOwn(value, name)) return findRows((value as Record<string, unknown>)[name], names, depth - 1);
  return undefined;
}
