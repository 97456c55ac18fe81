import type { ImportDraft } from './draft.ts';

/** The message contains no values from the file. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
  readonly path: string | undefined; // of the mistake; undefined if it concerns the whole file

  constructor(message: string, path?: string) {
    super(message);
    this.path = path;
  }
}

/** Reasons for not importing members, by name; '' for members that do not affect serving, such as statistics. */
export type Reasons = Readonly<Record<string, string>>;

const unknownMember = 'is not known to this import';

/**
 * An object in the source file. Each of its members is either read or noted, so that no setting is dropped silently. Reading a value of the
 * wrong type throws ImportError.
 */
export class ImportedObject {
  readonly path: string;
  readonly #members: ReadonlyMap<string, unknown>;
  readonly #unreadNames: Set<string>;
  readonly #draft: ImportDraft;

  constructor(value: unknown, path: string, draft: ImportDraft) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new ImportError(`is ${describeType(value)}, but must be an object`, path);
    this.path = path;
    this.#draft = draft;
    this.#members = new Map(Object.entries(value));
    this.#unreadNames = new Set(this.#members.keys());
  }

  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  read(name: string): unknown {
    this.#unreadNames.delete(name);
    const value = this.#members.get(name);
    return isEmpty(value) ? undefined : value;
  }

  readText(name: string): string | undefined {
    const value = this.read(name);
    if (value === undefined || typeof value === 'string') return value?.trim();
    if (typeof value === 'number') return String(value);
    throw new ImportError(`is ${describeType(value)}, but must be a text`, this.pathOf(name));
  }

  /** Accepts a number in quotes, because tables exported as CSV contain only text. */
  readNumber(name: string): number | undefined {
    const value = this.read(name);
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : value;
    if (typeof number === 'number' && Number.isFinite(number)) return number;
    throw new ImportError(`is ${describeType(value)}, but must be a number`, this.pathOf(name));
  }

  readList(name: string): readonly unknown[] {
    const value = this.read(name) ?? [];
    if (Array.isArray(value)) return value;
    throw new ImportError(`is ${describeType(value)}, but must be a list`, this.pathOf(name));
  }

  /** Accepts JSON text as well, which is how database tables store objects. */
  readObject(name: string): ImportedObject | undefined {
    const value = this.read(name);
    if (value === undefined) return undefined;
    return new ImportedObject(
      typeof value === 'string' ? this.#parse(name, value) : value,
      this.pathOf(name),
      this.#draft,
    );
  }

  #parse(name: string, text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw new ImportError('is text, but not JSON', this.pathOf(name));
    }
  }

  noteUnread(reasons: Reasons = {}): void {
    for (const name of this.#unreadNames) {
      const reason = Object.hasOwn(reasons, name) ? reasons[name] : unknownMember;
      if (reason !== '' && !isEmpty(this.#members.get(name)))
        this.#draft.note(this.pathOf(name), reason ?? unknownMember);
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

function describeType(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value === null || value === undefined) return 'missing';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}

/** Finds the rows of a table in a list, an API response (`data`, `items`) or an export under one of the table's names. */
export function readRows(value: unknown, ...names: readonly string[]): readonly unknown[] {
  const rows = findRows(value, names, 3);
  if (rows !== undefined) return rows;
  throw new ImportError(
    `has no list: expected a list of rows, or an object with a list under "${names.join('" or "')}"`,
  );
}

function findRows(value: unknown, names: readonly string[], depth: number): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null || depth === 0) return undefined;
  for (const name of [...names, 'data', 'items'])
    if (Object.hasOwn(value, name)) return findRows((value as Record<string, unknown>)[name], names, depth - 1);
  return undefined;
}
