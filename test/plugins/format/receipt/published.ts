import { join } from 'node:path';
import { API, type Checker, type Type, TypeFlags } from 'typescript/unstable/sync';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';

const folder = import.meta.dirname;
const root = join(folder, '../../../..');
const mostDepth = 7;

/** A member of a request, or one of its values. */
export interface Probe {
  /** Such as `tools[](function).strict`: lists by brackets, alternatives by their type or role. */
  readonly path: string;
  /** The least that a request must have around it. */
  readonly value: JsonObject;
  /** The same without it. */
  readonly without: JsonObject;
  /** The value itself, where it is a text, a number or a boolean. Requests have two of a text or number that is not one of a few. */
  readonly scalar?: JsonValue;
}

class Reader {
  readonly #checker: Checker;
  readonly #usesNull: boolean;
  readonly probes: Probe[] = [];
  readonly #seen = new Set<string>();

  /** @param usesNull what is not asked for is null or empty, as in answers */
  constructor(checker: Checker, usesNull: boolean) {
    this.#checker = checker;
    this.#usesNull = usesNull;
  }

  /** @param wrap puts a value of the type where it belongs; undefined leaves it out */
  read(
    type: Type,
    path: string,
    wrap: (value: JsonValue | undefined) => JsonObject,
    within: readonly number[] = [],
  ): void {
    if (within.length > mostDepth || within.includes(type.id)) return;
    const inside = [...within, type.id];
    const kinds = alternatives(type);
    if (kinds.length > 1) {
      for (const kind of kinds)
        this.read(
          kind,
          kind.isObjectType() && !this.#isList(kind) ? `${path}${this.#nameOf(kind)}` : path,
          wrap,
          inside,
        );
      return;
    }
    const [only] = kinds;
    if (only === undefined) return;
    if (this.#isList(only)) {
      const [element] = this.#checker.getTypeArguments(only as never);
      if (element !== undefined)
        this.read(element, `${path}[]`, (value) => wrap(value === undefined ? undefined : [value]), inside);
      return;
    }
    const properties = this.#propertiesOf(only);
    // Ids and positions in answers fit each other: another one would be of nothing.
    const another = this.#usesNull ? [] : anotherOf(only);
    const others = only.flags & TypeFlags.BooleanLike ? [false] : another;
    for (const other of others) this.#add(path, wrap(other), wrap(undefined), other);
    if (properties.length === 0) {
      const sample = this.#sample(only);
      return this.#add(path, wrap(sample), wrap(undefined), isScalar(sample) ? sample : undefined);
    }
    const base = this.#sample(only) as JsonObject;
    // An object without members says nothing.
    if (Object.keys(base).length > 0 && path !== '') this.#add(path, wrap(base), wrap(undefined));
    for (const property of properties) {
      const inner = this.#checker.getTypeOfSymbol(property);
      if (inner === undefined) continue;
      const { name } = property;
      const bare = Object.fromEntries(Object.entries(base).filter(([key]) => key !== name));
      this.read(
        inner,
        path === '' ? name : `${path}.${name}`,
        (value) => wrap(value === undefined ? bare : { ...bare, [name]: value }),
        inside,
      );
    }
  }

  #add(path: string, value: JsonObject, without: JsonObject, scalar?: JsonValue): void {
    const key = JSON.stringify([path, value]);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.probes.push({ path, value, without, ...(scalar !== undefined && { scalar }) });
  }

  #isList(type: Type): boolean {
    return this.#checker.isArrayType(type);
  }

  #propertiesOf(type: Type) {
    return type.isObjectType()
      ? this.#checker.getPropertiesOfType(type).filter(({ name }) => !name.startsWith('__@'))
      : [];
  }

  /** The words by which an alternative is told from others. */
  #nameOf(type: Type): string {
    for (const name of ['type', 'role']) {
      const property = this.#checker.getPropertyOfType(type, name);
      const inner = property && this.#checker.getTypeOfSymbol(property);
      const [literal] = inner === undefined ? [] : alternatives(inner);
      if (literal?.isStringLiteralType() === true) return `(${literal.value})`;
    }
    return '';
  }

  #member(type: Type, depth: number): JsonValue {
    return this.#usesNull && canBeNull(type) ? null : this.#sample(type, depth);
  }

  /** The least value of a type. */
  #sample(type: Type, depth = 0): JsonValue {
    const [kind] = alternatives(type);
    if (kind === undefined || depth > mostDepth) return {};
    if (kind.isStringLiteralType() || kind.isNumberLiteralType()) return kind.value as JsonValue;
    if (kind.flags & TypeFlags.BooleanLike) return true;
    if (kind.flags & TypeFlags.NumberLike) return 1;
    if (kind.flags & TypeFlags.StringLike) return 'x';
    if (this.#isList(kind)) {
      const [element] = this.#usesNull ? [] : this.#checker.getTypeArguments(kind as never);
      return element === undefined ? [] : [this.#sample(element, depth + 1)];
    }
    const [index] = kind.isObjectType() ? this.#checker.getIndexInfosOfType(kind) : [];
    if (index !== undefined && this.#propertiesOf(kind).length === 0) return { x: 'y' };
    if (kind.isObjectType() && this.#propertiesOf(kind).length === 0) return { x: 'y' };
    const required = this.#propertiesOf(kind).filter(
      (property) => !isOptional(this.#checker.getTypeOfSymbol(property), property.flags),
    );
    return Object.fromEntries(
      required.map((property) => [
        property.name,
        this.#member(this.#checker.getTypeOfSymbol(property) as Type, depth + 1),
      ]),
    );
  }
}

/** A second value of a type without a few of its own. */
function anotherOf(type: Type): readonly JsonValue[] {
  if (type.isStringLiteralType() || type.isNumberLiteralType()) return [];
  if (type.flags & TypeFlags.NumberLike) return [2];
  return type.flags & TypeFlags.StringLike ? ['y'] : [];
}

function isScalar(value: JsonValue): boolean {
  return value === null || typeof value !== 'object';
}

function canBeNull(type: Type): boolean {
  return type.isUnionType() && type.getTypes().some(({ flags }) => (flags & TypeFlags.Null) !== 0);
}

const optionalFlag = 1 << 24; // SymbolFlags.Optional

function isOptional(type: Type | undefined, flags: number): boolean {
  return (flags & optionalFlag) !== 0 || type === undefined;
}

/** The parts of a union without null and undefined. */
function alternatives(type: Type): readonly Type[] {
  const all = type.isUnionType() ? type.getTypes() : [type];
  const some = all.filter(({ flags }) => (flags & (TypeFlags.Null | TypeFlags.Undefined)) === 0);
  // Both booleans are one.
  const booleans = some.filter(({ flags }) => (flags & TypeFlags.BooleanLike) !== 0);
  return booleans.length > 1 ? some.filter((one) => !booleans.slice(1).includes(one)) : some;
}

/** What is published of each format: requests, answers or their events. */
export type Published = Readonly<Record<string, readonly Probe[]>>;
type Root = 'Roots' | 'Answers' | 'Events';

/** What the SDKs declare of requests, of answers and of their events, by format. Starts the compiler, for about three seconds. */
export function readPublished<Wanted extends Root>(...roots: readonly Wanted[]): Readonly<Record<Wanted, Published>> {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProject: join(folder, 'tsconfig.json') }).getProjects();
    if (project === undefined) throw new Error('no project');
    const { checker, program } = project;
    const source = program.getSourceFile(join(folder, 'roots.ts'));
    const module = source && checker.getSymbolAtLocation(source);
    const declared = module === undefined ? [] : checker.getExportsOfModule(module);
    const read = (wanted: Root): Published => {
      const found = declared.find(({ name }) => name === wanted);
      if (found === undefined) throw new Error('no roots');
      const formats = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(found));
      return Object.fromEntries(
        formats.map((format) => {
          const reader = new Reader(checker, wanted !== 'Roots');
          reader.read(checker.getTypeOfSymbol(format) as Type, '', (value) => (value ?? {}) as JsonObject);
          return [format.name, reader.probes];
        }),
      );
    };
    return Object.fromEntries(roots.map((wanted) => [wanted, read(wanted)])) as Record<Wanted, Published>;
  } finally {
    api.close();
  }
}
