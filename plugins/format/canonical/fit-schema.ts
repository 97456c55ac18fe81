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

const maxDepth = 200; // request bodies cannot be nested deeper
const maxInlined = 500; // bounds mutually recursive references

type ClosedObjects = 'always' | 'unspecified' | 'never'; // `unspecified`: objects without `additionalProperties`

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

  fit(value: JsonValue | undefined): JsonObject {
    const schema = isJsonObject(value) ? value : {};
    if (this.#depth > maxDepth) return {};
    this.#depth++;
    const fittedSchema = this.#fitKeywords(this.#addMissingType(this.#reshape(schema)));
    this.#depth--;
    return this.#close(fittedSchema, schema);
  }

  #reshape(schema: JsonObject): JsonObject {
    const mergedSchema = this.#merge(schema);
    return this.#splitTypes(this.#replaceOneOf(this.#replaceTuple(this.#wrapReference(mergedSchema))));
  }

  /** Merges an `allOf` if the vendor refuses it, or if no value could satisfy all parts once they are closed. */
  #merge(schema: JsonObject, isPart = false): JsonObject {
    const { allOf, ...others } = schema;
    if (!Array.isArray(allOf)) return schema;
    const entries = allOf.filter(isJsonObject);
    const needsOneObject = this.#closing !== 'never' && [...entries, others].some(needsMerging);
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

  /** Vendors do not allow keywords next to a reference, so the reference becomes the only alternative. */
  #wrapReference(schema: JsonObject): JsonObject {
    const { $ref, ...others } = schema;
    if ($ref === undefined || !Object.keys(others).some((name) => !name.startsWith('$') && name !== 'definitions')) {
      return schema;
    }
    return others['anyOf'] === undefined ? { anyOf: [{ $ref }], ...others } : this.#inlineReference(schema);
  }

  #replaceTuple(schema: JsonObject): JsonObject {
    const { items, prefixItems } = schema;
    const tuple = [prefixItems, items].find((list) => Array.isArray(list));
    if (!Array.isArray(tuple) || (tuple === prefixItems && this.#accepts('prefixItems', tuple))) return schema;
    const furtherEntries = isJsonObject(items) ? [items] : []; // only allowed if the schema describes them
    const { items: _, ...others } = schema;
    return { ...others, prefixItems: tuple, items: { anyOf: [...tuple, ...furtherEntries] } };
  }

  #replaceOneOf(schema: JsonObject): JsonObject {
    const { oneOf, ...others } = schema;
    if (!Array.isArray(oneOf) || this.#accepts('oneOf', oneOf) || others['anyOf'] !== undefined) return schema;
    this.#noteAnyOf();
    return { ...others, anyOf: oneOf };
  }

  #splitTypes(schema: JsonObject): JsonObject {
    const { type, ...others } = schema;
    if (!Array.isArray(type) || this.#subset.allowsTypeLists || others['anyOf'] !== undefined) return schema;
    const { description, title, ...rules } = others;
    const labels = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
    return { ...labels, anyOf: type.map((name) => (name === 'null' ? { type: name } : { ...rules, type: name })) };
  }

  #addMissingType(schema: JsonObject): JsonObject {
    const hasType = typeKeywords.some((name) => schema[name] !== undefined && this.#accepts(name, schema[name]));
    if (this.#subset.requiresTypes !== true || hasType) return schema;
    const impliedType = impliedTypes.find(([names]) => names.some((name) => schema[name] !== undefined))?.[1];
    if (impliedType !== undefined) return { ...schema, type: impliedType };
    this.#notes.approximate('any value in schemas as plain ones');
    return { ...schema, anyOf: plainTypes.map((type) => ({ type })) };
  }

  #fitKeywords(schema: JsonObject): JsonObject {
    const acceptedKeywords: [string, JsonValue][] = [];
    const movedKeywords: [string, JsonValue][] = [];
    for (const [name, value] of Object.entries(schema)) {
      if (value === undefined) continue;
      if (this.#accepts(name, value)) {
        const member = this.#fitKeyword(name, value);
        // A relaxed alternative may also accept values meant for another alternative, and `oneOf` would then reject them.
        if (name !== 'oneOf' || JSON.stringify(member) === JSON.stringify(value)) acceptedKeywords.push([name, member]);
        else if (schema['anyOf'] === undefined) {
          this.#noteAnyOf();
          acceptedKeywords.push(['anyOf', member]);
        } else movedKeywords.push([name, value]);
      } else if (name === 'const' && this.#accepts('enum', [value])) acceptedKeywords.push(['enum', [value]]);
      else if (!annotationKeywords.has(name)) movedKeywords.push([name, value]);
    }
    for (const [name] of movedKeywords) {
      if (!hintKeywords.has(name)) this.#notes.approximate(`${name} in schemas as description`);
    }
    return appendKeywords(Object.fromEntries(acceptedKeywords), movedKeywords);
  }

  #noteAnyOf(): void {
    this.#notes.approximate('oneOf in schemas as anyOf');
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

function needsMerging(schema: JsonObject): boolean {
  return describesObject(schema) || ['$ref', 'anyOf', 'oneOf', 'allOf'].some((name) => schema[name] !== undefined);
}

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
