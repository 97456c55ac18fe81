import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { appendDescription, findReference, mergeSchemas } from './merge-schemas.ts';
import type { Notes } from './notes.ts';
import {
  annotationKeywords,
  hintKeywords,
  schemaKeywords,
  schemaMapKeywords,
  type SchemaSubset,
} from './schema-subsets.ts';

/** The deepest nesting of a schema; request bodies cannot be nested deeper. */
const maxDepth = 200;
/** The most references to inline, so that references that contain each other do not multiply. */
const maxInlined = 500;

/** Which objects forbid unlisted members: all objects, objects that do not say, or none. */
type ClosedObjects = 'always' | 'unspecified' | 'never';

/**
 * Translates a JSON Schema into the subset that a vendor enforces. As in Anthropic's SDK, keywords that the vendor refuses move into the
 * description, and `oneOf` becomes `anyOf`. Supported keywords stay. Any value that is valid under the original schema is valid under the
 * result, unless the vendor allows listed members only.
 *
 * @param notes gets an entry for each kind of rule that is no longer enforced
 * @returns undefined if the subset cannot express the schema, because the schema contains itself or allows any value
 */
export function fitSchema(
  schema: JsonObject,
  subset: SchemaSubset,
  notes: Notes,
  closing: ClosedObjects = subset.requiresClosedObjects === true ? 'always' : 'never',
): JsonObject | undefined {
  if (!subset.allowsRecursion && isRecursive(schema)) return undefined;
  const allowsAnything =
    subset.requiresTypes === true && Object.keys(schema).every((name) => annotationKeywords.has(name));
  return allowsAnything ? undefined : new Fitter(schema, subset, notes, closing).fit(schema);
}

const typeKeywords = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const'];
/** Keywords that only apply to values of one type, and therefore imply the type. */
const impliedTypes: readonly (readonly [readonly string[], string])[] = [
  [['properties', 'additionalProperties', 'required', 'patternProperties', 'minProperties', 'maxProperties'], 'object'],
  [['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems'], 'array'],
  [['pattern', 'minLength', 'maxLength', 'format'], 'string'],
  [['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'], 'number'],
];
const plainTypes = ['string', 'number', 'boolean', 'null'];

class Fitter {
  readonly #root: JsonObject;
  readonly #subset: SchemaSubset;
  readonly #notes: Notes;
  readonly #closing: ClosedObjects;
  #depth = 0;
  #inlinedCount = 0;

  constructor(root: JsonObject, subset: SchemaSubset, notes: Notes, closing: ClosedObjects) {
    this.#root = root;
    this.#subset = subset;
    this.#notes = notes;
    this.#closing = closing;
  }

  /** Translates a schema. A schema that is not an object, such as `true`, allows any value. */
  fit(value: JsonValue | undefined): JsonObject {
    const schema = isJsonObject(value) ? value : {};
    if (this.#depth > maxDepth) return {};
    this.#depth++;
    const fittedSchema = this.#fitKeywords(this.#addType(this.#reshape(schema)));
    this.#depth--;
    return this.#close(fittedSchema, schema);
  }

  /** Rewrites alternatives, tuples and references into the vendor's forms. */
  #reshape(schema: JsonObject): JsonObject {
    const mergedSchema = this.#merge(schema);
    return this.#splitTypes(this.#replaceOneOf(this.#replaceTuple(this.#wrapReference(mergedSchema))));
  }

  /** Merges an `allOf` if the vendor refuses it, or if no value could satisfy all parts once they are closed. */
  #merge(schema: JsonObject, isPart = false): JsonObject {
    const { allOf, ...others } = schema;
    if (!Array.isArray(allOf)) return schema;
    const entries = allOf.filter(isJsonObject);
    const needsOneObject = this.#closing !== 'never' && [...entries, others].some(isStructured);
    const isAccepted = this.#accepts('allOf', allOf) && !needsOneObject;
    if (isAccepted && !isPart) return schema;
    const mergedEntries = entries.map((entry) => this.#merge(this.#inlineReference(entry), true));
    return mergedEntries.reduceRight<JsonObject>((all, entry) => mergeSchemas(entry, all), others);
  }

  #inlineReference(schema: JsonObject): JsonObject {
    const { $ref: reference, ...others } = schema;
    if (typeof reference !== 'string' || this.#inlinedCount >= maxInlined) return schema;
    this.#inlinedCount++;
    const target = findReference(this.#root, reference);
    return target === undefined ? schema : mergeSchemas(target, others);
  }

  /** Wraps a reference as the only alternative if other keywords stand next to it, which vendors do not allow. */
  #wrapReference(schema: JsonObject): JsonObject {
    const { $ref, ...others } = schema;
    if ($ref === undefined || !Object.keys(others).some((name) => !name.startsWith('$') && name !== 'definitions')) {
      return schema;
    }
    return others['anyOf'] === undefined ? { anyOf: [{ $ref }], ...others } : this.#inlineReference(schema);
  }

  /** Turns the entries of a tuple into alternatives for its items. Further entries are only allowed if the schema describes them. */
  #replaceTuple(schema: JsonObject): JsonObject {
    const { items, prefixItems } = schema;
    const tuple = [prefixItems, items].find((list) => Array.isArray(list));
    if (!Array.isArray(tuple) || (tuple === prefixItems && this.#accepts('prefixItems', tuple))) return schema;
    const furtherEntries = isJsonObject(items) ? [items] : [];
    const { items: _, ...others } = schema;
    return { ...others, prefixItems: tuple, items: { anyOf: [...tuple, ...furtherEntries] } };
  }

  /** Turns `oneOf` into `anyOf` if the vendor refuses it. */
  #replaceOneOf(schema: JsonObject): JsonObject {
    const { oneOf, ...others } = schema;
    if (!Array.isArray(oneOf) || this.#accepts('oneOf', oneOf) || others['anyOf'] !== undefined) return schema;
    return { ...others, [this.#noteAnyOf()]: oneOf };
  }

  /** Turns a list of types into alternatives if the vendor refuses such lists. */
  #splitTypes(schema: JsonObject): JsonObject {
    const { type, ...others } = schema;
    if (!Array.isArray(type) || this.#subset.allowsTypeLists || others['anyOf'] !== undefined) return schema;
    const { description, title, ...rules } = others;
    const labels = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
    return { ...labels, anyOf: type.map((name) => (name === 'null' ? { type: name } : { ...rules, type: name })) };
  }

  /** Adds a type to a schema that lacks one if the vendor requires it. */
  #addType(schema: JsonObject): JsonObject {
    const hasType = typeKeywords.some((name) => schema[name] !== undefined && this.#accepts(name, schema[name]));
    if (this.#subset.requiresTypes !== true || hasType) return schema;
    const impliedType = impliedTypes.find(([names]) => names.some((name) => schema[name] !== undefined))?.[1];
    if (impliedType !== undefined) return { ...schema, type: impliedType };
    this.#notes.approximate('any value in schemas as plain ones');
    return { ...schema, anyOf: plainTypes.map((type) => ({ type })) };
  }

  /** Translates the keywords that the vendor accepts, and moves the others into the description. */
  #fitKeywords(schema: JsonObject): JsonObject {
    const acceptedKeywords: [string, JsonValue][] = [];
    const movedKeywords: [string, JsonValue][] = [];
    for (const [name, value] of Object.entries(schema)) {
      if (value === undefined) continue;
      if (this.#accepts(name, value)) {
        const member = this.#fitKeyword(name, value);
        // A relaxed alternative may also accept values meant for another alternative, and `oneOf` would then reject them.
        if (name !== 'oneOf' || JSON.stringify(member) === JSON.stringify(value)) acceptedKeywords.push([name, member]);
        else if (schema['anyOf'] === undefined) acceptedKeywords.push([this.#noteAnyOf(), member]);
        else movedKeywords.push([name, value]);
      } else if (name === 'const' && this.#accepts('enum', [value])) acceptedKeywords.push(['enum', [value]]);
      else if (!annotationKeywords.has(name)) movedKeywords.push([name, value]);
    }
    for (const [name] of movedKeywords) {
      if (!hintKeywords.has(name)) this.#notes.approximate(`${name} in schemas as description`);
    }
    return appendKeywords(Object.fromEntries(acceptedKeywords), movedKeywords);
  }

  /** Notes that `oneOf` is replaced, and returns the keyword that replaces it. */
  #noteAnyOf(): string {
    this.#notes.approximate('oneOf in schemas as anyOf');
    return 'anyOf';
  }

  #accepts(name: string, value: JsonValue): boolean {
    const { accepted, refused, valueChecks } = this.#subset;
    if (accepted?.has(name) === false || refused?.has(name) === true) return false;
    const isAcceptedValue =
      valueChecks !== undefined && Object.hasOwn(valueChecks, name) ? valueChecks[name] : undefined;
    return isAcceptedValue?.(value) !== false;
  }

  #fitKeyword(name: string, value: JsonValue): JsonValue {
    if (schemaMapKeywords.has(name) && isJsonObject(value)) {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.fit(inner)]));
    }
    if (schemaKeywords.has(name) && Array.isArray(value)) return value.map((entry) => this.fit(entry));
    const isSchema = (schemaKeywords.has(name) || name === 'additionalProperties') && isJsonObject(value);
    return isSchema ? this.fit(value) : value;
  }

  #close(fitted: JsonObject, { additionalProperties: unlisted }: JsonObject): JsonObject {
    const isSpecified = unlisted !== undefined && unlisted !== null;
    if (!describesObject(fitted) || this.#closing === 'never' || (this.#closing === 'unspecified' && isSpecified))
      return fitted;
    if (unlisted !== false) this.#notes.approximate('additionalProperties as false');
    const describedSchema = isJsonObject(unlisted)
      ? appendKeywords(fitted, [['additionalProperties', unlisted]])
      : fitted;
    return { ...describedSchema, additionalProperties: false };
  }
}

/** Returns true if a part of an `allOf` must be merged with the others into one object. */
function isStructured(schema: JsonObject): boolean {
  return describesObject(schema) || ['$ref', 'anyOf', 'oneOf', 'allOf'].some((name) => schema[name] !== undefined);
}

/** Returns true if a schema allows objects. */
export function describesObject({ type, properties }: JsonObject): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || isJsonObject(properties);
}

/** Appends keywords as text to the description of a schema. */
export function appendKeywords(schema: JsonObject, keywords: readonly (readonly [string, JsonValue])[]): JsonObject {
  if (keywords.length === 0) return schema;
  const text = keywords.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ');
  return appendDescription(schema, `{${text}}`, '\n\n');
}

function isRecursive(root: JsonObject): boolean {
  const visited = new Set<JsonValue>();
  const ancestors = new Set<JsonValue>();
  const hasCycle = (value: JsonValue | undefined): boolean => {
    if (typeof value !== 'object' || value === null || visited.has(value)) return false;
    if (ancestors.has(value)) return true;
    ancestors.add(value);
    const reference = isJsonObject(value) ? value['$ref'] : undefined;
    const target = typeof reference === 'string' ? findReference(root, reference) : undefined;
    const isCycle = hasCycle(target) || Object.values(value).some(hasCycle);
    ancestors.delete(value);
    visited.add(value);
    return isCycle;
  };
  return hasCycle(root);
}
