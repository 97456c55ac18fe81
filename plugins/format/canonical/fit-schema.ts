import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { findReference, mergeSchemas } from './merge-schemas.ts';
import type { Notes } from './notes.ts';
import { annotations, hints, holders, namedHolders, type SchemaSubset } from './schema-subsets.ts';

/** Nesting of schemas; request bodies cannot be nested deeper. */
const maxDepth = 200;
/** Inlined references; the limit keeps mutual references from multiplying. */
const maxInlined = 500;

/** Which objects are closed to unlisted members: all, if the vendor requires that, or those that do not specify it. */
type Closing = 'always' | 'unsaid' | 'never';

/**
 * Translates a JSON Schema into the subset that a vendor enforces. Keywords that the vendor refuses move into the description, as
 * in Anthropic's SDK; `oneOf` becomes `anyOf`. Supported keywords stay. Any value that is valid under the original schema is valid
 * under the result, unless the vendor allows listed members only.
 *
 * @param notes receives an entry for each kind of rule that is no longer enforced
 * @returns undefined if the subset cannot express the schema: it contains itself, or allows any value
 */
export function fitSchema(
  schema: JsonObject,
  subset: SchemaSubset,
  notes: Notes,
  closing: Closing = subset.isClosed === true ? 'always' : 'never',
): JsonObject | undefined {
  if (!subset.isRecursive && isRecursive(schema)) return undefined;
  const isOpen = subset.isTyped === true && Object.keys(schema).every((name) => annotations.has(name));
  return isOpen ? undefined : new Fitter(schema, subset, notes, closing).fit(schema);
}

class Fitter {
  readonly #root: JsonObject;
  readonly #subset: SchemaSubset;
  readonly #notes: Notes;
  readonly #closing: Closing;
  #depth = 0;
  #inlined = 0;

  constructor(root: JsonObject, subset: SchemaSubset, notes: Notes, closing: Closing) {
    this.#root = root;
    this.#subset = subset;
    this.#notes = notes;
    this.#closing = closing;
  }

  /** A schema that is not an object, such as `true`, allows any value. */
  fit(value: JsonValue | undefined): JsonObject {
    const schema = isJsonObject(value) ? value : {};
    if (this.#depth > maxDepth) return {};
    this.#depth++;
    const fitted = this.#members(this.#typed(this.#reshaped(schema)));
    this.#depth--;
    return this.#closed(fitted, schema);
  }

  /** Rewrites alternatives, tuples and references into the vendor's forms. */
  #reshaped(schema: JsonObject): JsonObject {
    const merged = this.#merged(schema);
    return this.#withTypes(this.#withOneList(this.#withEntries(this.#withReference(merged))));
  }

  /** Merges an `allOf` that the vendor refuses, or whose parts, once closed, no value could satisfy. */
  #merged(schema: JsonObject, isPart = false): JsonObject {
    const { allOf, ...beside } = schema;
    if (!Array.isArray(allOf)) return schema;
    const entries = allOf.filter(isJsonObject);
    const isTorn = this.#closing !== 'never' && [...entries, beside].some(isStructured);
    const isKept = this.#takes('allOf', allOf) && !isTorn;
    if (isKept && !isPart) return schema;
    const flat = entries.map((entry) => this.#merged(this.#resolved(entry), true));
    return flat.reduceRight<JsonObject>((all, entry) => mergeSchemas(entry, all), beside);
  }

  #resolved(schema: JsonObject): JsonObject {
    const { $ref: reference, ...beside } = schema;
    if (typeof reference !== 'string' || this.#inlined >= maxInlined) return schema;
    this.#inlined++;
    const target = findReference(this.#root, reference);
    return target === undefined ? schema : mergeSchemas(target, beside);
  }

  /** A reference cannot stand next to other keywords, so it is wrapped as the only alternative. */
  #withReference(schema: JsonObject): JsonObject {
    const { $ref, ...beside } = schema;
    if ($ref === undefined || !Object.keys(beside).some((name) => !name.startsWith('$') && name !== 'definitions')) {
      return schema;
    }
    return beside['anyOf'] === undefined ? { anyOf: [{ $ref }], ...beside } : this.#resolved(schema);
  }

  /** The entries of a tuple become alternatives. Further entries are allowed only if the schema describes them. */
  #withEntries(schema: JsonObject): JsonObject {
    const { items, prefixItems } = schema;
    const tuple = [prefixItems, items].find((list) => Array.isArray(list));
    if (!Array.isArray(tuple) || (tuple === prefixItems && this.#takes('prefixItems', tuple))) return schema;
    const others = isJsonObject(items) ? [items] : [];
    const { items: _, ...rest } = schema;
    return { ...rest, prefixItems: tuple, items: { anyOf: [...tuple, ...others] } };
  }

  #withOneList(schema: JsonObject): JsonObject {
    const { oneOf, ...beside } = schema;
    if (!Array.isArray(oneOf) || this.#takes('oneOf', oneOf) || beside['anyOf'] !== undefined) return schema;
    return { ...beside, [this.#anyOfInstead()]: oneOf };
  }

  #withTypes(schema: JsonObject): JsonObject {
    const { type, ...beside } = schema;
    if (!Array.isArray(type) || this.#subset.hasTypeLists || beside['anyOf'] !== undefined) return schema;
    const { description, title, ...rules } = beside;
    const labels = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
    return { ...labels, anyOf: type.map((name) => (name === 'null' ? { type: name } : { ...rules, type: name })) };
  }

  #typed(schema: JsonObject): JsonObject {
    const isTyped = typed.some((name) => schema[name] !== undefined && this.#takes(name, schema[name]));
    if (this.#subset.isTyped !== true || isTyped) return schema;
    const implied = implying.find(([names]) => names.some((name) => schema[name] !== undefined))?.[1];
    if (implied !== undefined) return { ...schema, type: implied };
    this.#notes.approximate('any value in schemas as plain ones');
    return { ...schema, anyOf: plainTypes.map((type) => ({ type })) };
  }

  #members(schema: JsonObject): JsonObject {
    const taken: [string, JsonValue][] = [];
    const moved: [string, JsonValue][] = [];
    for (const [name, value] of Object.entries(schema)) {
      if (value === undefined) continue;
      if (this.#takes(name, value)) {
        const member = this.#member(name, value);
        // A relaxed alternative may accept values of another one, and `oneOf` would then reject them.
        if (name !== 'oneOf' || JSON.stringify(member) === JSON.stringify(value)) taken.push([name, member]);
        else if (schema['anyOf'] === undefined) taken.push([this.#anyOfInstead(), member]);
        else moved.push([name, value]);
      } else if (name === 'const' && this.#takes('enum', [value])) taken.push(['enum', [value]]);
      else if (!annotations.has(name)) moved.push([name, value]);
    }
    for (const [name] of moved) if (!hints.has(name)) this.#notes.approximate(`${name} in schemas as description`);
    return describe(Object.fromEntries(taken), moved);
  }

  #anyOfInstead(): string {
    this.#notes.approximate('oneOf in schemas as anyOf');
    return 'anyOf';
  }

  #takes(name: string, value: JsonValue): boolean {
    const { takes, refuses, values } = this.#subset;
    if (takes?.has(name) === false || refuses?.has(name) === true) return false;
    const isValue = values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
    return isValue?.(value) !== false;
  }

  #member(name: string, value: JsonValue): JsonValue {
    if (namedHolders.has(name) && isJsonObject(value)) {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.fit(inner)]));
    }
    if (holders.has(name) && Array.isArray(value)) return value.map((entry) => this.fit(entry));
    const isSchema = (holders.has(name) || name === 'additionalProperties') && isJsonObject(value);
    return isSchema ? this.fit(value) : value;
  }

  #closed(fitted: JsonObject, { additionalProperties: others }: JsonObject): JsonObject {
    const isSaid = others !== undefined && others !== null;
    if (!isObject(fitted) || this.#closing === 'never' || (this.#closing === 'unsaid' && isSaid)) return fitted;
    if (others !== false) this.#notes.approximate('additionalProperties as false');
    const described = isJsonObject(others) ? describe(fitted, [['additionalProperties', others]]) : fitted;
    return { ...described, additionalProperties: false };
  }
}

/** Keywords that determine the type of a value. */
const typed = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const'];
const implying: readonly (readonly [readonly string[], string])[] = [
  [['properties', 'additionalProperties', 'required', 'patternProperties', 'minProperties', 'maxProperties'], 'object'],
  [['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems'], 'array'],
  [['pattern', 'minLength', 'maxLength', 'format'], 'string'],
  [['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'], 'number'],
];
const plainTypes = ['string', 'number', 'boolean', 'null'];

/** Whether a part of an `allOf` must be merged with the other parts into one object. */
function isStructured(schema: JsonObject): boolean {
  return isObject(schema) || ['$ref', 'anyOf', 'oneOf', 'allOf'].some((name) => schema[name] !== undefined);
}

export function isObject({ type, properties }: JsonObject): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || isJsonObject(properties);
}

/** Appends keywords as text to the description of the schema. */
export function describe(schema: JsonObject, keywords: readonly (readonly [string, JsonValue])[]): JsonObject {
  if (keywords.length === 0) return schema;
  const words = `{${keywords.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ')}}`;
  const { description } = schema;
  const isThere = typeof description === 'string' && description !== '';
  return { ...schema, description: isThere ? `${description}\n\n${words}` : words };
}

function isRecursive(root: JsonObject): boolean {
  const settled = new Set<JsonValue>();
  const open = new Set<JsonValue>();
  const visit = (value: JsonValue | undefined): boolean => {
    if (typeof value !== 'object' || value === null || settled.has(value)) return false;
    if (open.has(value)) return true;
    open.add(value);
    const reference = isJsonObject(value) ? value['$ref'] : undefined;
    const target = typeof reference === 'string' ? findReference(root, reference) : undefined;
    const isCycle = visit(target) || Object.values(value).some(visit);
    open.delete(value);
    settled.add(value);
    return isCycle;
  };
  return visit(root);
}
