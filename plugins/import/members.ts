import type { ImportDraft } from './draft.ts';

/** A file that cannot be imported. The message contains no values from the file. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
  /** Where the mistake is in the file; undefined if it concerns the whole file. */
  readonly path: string | undefined;

  constructor(message: string, path?: string) {
    super(message);
    this.path = path;
  }
}

/** Reasons for not importing members, by name; '' for members that do not affect serving, such as statistics. */
export type Reasons = Readonly<Record<string, string>>;

const unknownMember = 'is not known to this import';

/** An object in the source file. Each of its members is either read or noted, so that no setting is dropped silently. */
export class ImportedObject {
  readonly path: string;
  readonly #members: ReadonlyMap<string, unknown>;
  readonly #unreadNames: Set<string>;
  readonly #draft: ImportDraft;

  /** @throws ImportError if the value is not an object */
  constructor(value: unknown, path: string, draft: ImportDraft) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new ImportError(`is ${describeType(value)}, but must be an object`, path);
    this.path = path;
    this.#draft = draft;
    this.#members = new Map(Object.entries(value));
    this.#unreadNames = new Set(this.#members.keys());
  }

  /** Returns the path of a member. */
  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  /** Returns a member's value and marks it as read; undefined for an empty value. */
  read(name: string): unknown {
    this.#unreadNames.delete(name);
    const value = this.#members.get(name);
    return isEmpty(value) ? undefined : value;
  }

  /** @throws ImportError if the value is neither text nor a number */
  readText(name: string): string | undefined {
    const value = this.read(name);
    if (value === undefined || typeof value === 'string') return value?.trim();
    if (typeof value === 'number') return String(value);
    throw new ImportError(`is ${describeType(value)}, but must be a text`, this.pathOf(name));
  }

  /**
   * Reads a number. It may be in quotes, because tables exported as CSV contain only text.
   *
   * @throws ImportError
   */
  readNumber(name: string): number | undefined {
    const value = this.read(name);
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : value;
    if (typeof number === 'number' && Number.isFinite(number)) return number;
    throw new ImportError(`is ${describeType(value)}, but must be a number`, this.pathOf(name));
  }

  /** @throws ImportError if the value is not a list */
  readList(name: string): readonly unknown[] {
    const value = this.read(name) ?? [];
    if (Array.isArray(value)) return value;
    throw new ImportError(`is ${describeType(value)}, but must be a list`, this.pathOf(name));
  }

  /**
   * Reads an object, or its JSON text, which is how database tables store it.
   *
   * @throws ImportError
   */
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

  /** Notes all unread members. */
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
  return typeof value === 'string' ? 'a text' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/**
 * Finds the rows of an exported table in a list, in an API response (`data`, `items`) or in an export.
 *
 * @param names names of the table
 * @throws ImportError if there is no list
 */
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
