import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { findReference, mergeSchemas } from '../../../canonical/merge-schemas.ts';
import { Notes } from '../../../canonical/notes.ts';
import {
  describeUnsupported,
  boundsRule,
  enumRule,
  itemsRule,
  nullRule,
  requiredRule,
  typeRule,
} from './schema-values.ts';
import { distributeAnyOf, splitTypes } from './schema-structure.ts';
import type { GeminiSchema } from '../../../wire/gemini.ts';

type Check = (value: JsonValue) => boolean;
const isText: Check = (value) => typeof value === 'string' && value !== '';
const isNumber: Check = (value) => typeof value === 'number';
const isList: Check = (value) => Array.isArray(value) && value.length > 0;

/** Keywords of the subset, each with a check of its value; invalid values are ignored. */
const kept: Readonly<Record<string, Check>> = {
  type: isText,
  format: isText,
  description: isText,
  nullable: (value) => value === true,
  enum: isList,
  items: isJsonObject,
  minItems: isNumber,
  maxItems: isNumber,
  properties: isJsonObject,
  required: isList,
  minimum: isNumber,
  maximum: isNumber,
  minLength: isNumber,
  maxLength: isNumber,
  pattern: isText,
  anyOf: isList,
};
/** Maximum number of schemas after references are resolved: mutual references multiply. */
const maxSchemas = 2_000;
/** Maximum nesting depth of references: the body itself allows no more. */
const maxDepth = 200;

/** Applied to a flat schema, before the schemas inside it. */
const rules: readonly ((schema: JsonObject, notes: Notes) => JsonObject)[] = [
  nullRule,
  enumRule,
  boundsRule,
  itemsRule,
  describeUnsupported,
  typeRule,
  requiredRule,
];

/**
 * Translates a JSON Schema into the subset of OpenAPI that older models accept. Rules that the subset lacks go into the
 * description. A value that fits the original also fits the result; a schema that allows any value becomes a schema of
 * plain values.
 *
 * Source: Gemini API reference, "Schema".
 *
 * @param notes gets an entry for each kind of rule that is no longer enforced
 */
export function cleanSchema(schema: JsonObject, notes = new Notes()): JsonObject {
  return new Cleaner(schema, notes).clean(schema, []);
}

/** Removes keywords with an invalid value. Tuples, which are lists, have a separate rule. */
function wellFormed(schema: JsonObject): JsonObject {
  const members = Object.entries(schema).filter(([name, value]) => {
    if (value === undefined || (name === 'items' && Array.isArray(value))) return value !== undefined;
    return !Object.hasOwn(kept, name) || kept[name]?.(value) === true;
  });
  return Object.fromEntries(members);
}

/** A schema and the references that led to it; a repeated reference is recursive. */
interface Found {
  readonly schema: JsonObject;
  readonly path: readonly string[];
}

class Cleaner {
  readonly #root: JsonObject;
  readonly #notes: Notes;
  #count = 0;
  #depth = 0;

  constructor(root: JsonObject, notes: Notes) {
    this.#root = root;
    this.#notes = notes;
  }

  clean(dirty: JsonObject, from: readonly string[]): JsonObject {
    if (this.#depth > maxDepth) {
      this.#noteCut();
      return { type: 'string', description: 'any JSON value' };
    }
    this.#depth++;
    const { schema, path } = this.#flatten({ schema: dirty, path: from });
    const ruled = rules.reduce((value, rule) => rule(value, this.#notes), wellFormed(schema));
    const members = Object.entries(ruled).filter(([name]) => Object.hasOwn(kept, name));
    const cleaned = members.map(([name, value]) => [name, this.#member(name, value, path)] as const);
    this.#depth--;
    return Object.fromEntries(cleaned);
  }

  /** Resolves references and `allOf`; in the result, alternatives have no sibling keywords. */
  #flatten(found: Found): Found {
    this.#count++;
    const { path } = found;
    const schema: GeminiSchema = found.schema;
    if (typeof schema.$ref === 'string') return this.#flatten(this.#resolve(schema, schema.$ref, path));
    if (Array.isArray(schema.allOf)) return this.#flatten(this.#mergeAll(schema, schema.allOf, path));
    const flat: GeminiSchema = distributeAnyOf(splitTypes(schema));
    const isFlat = typeof flat.$ref !== 'string' && !Array.isArray(flat.allOf);
    return isFlat ? { schema: flat, path } : this.#flatten({ schema: flat, path });
  }

  #resolve(schema: GeminiSchema, reference: string, path: readonly string[]): Found {
    const { $ref: _, ...beside } = schema;
    const isEndless = path.includes(reference) || path.length > maxDepth || this.#count > maxSchemas;
    if (isEndless) this.#noteCut();
    const target = isEndless ? undefined : findReference(this.#root, reference);
    if (target !== undefined) return { schema: mergeSchemas(target, beside), path: [...path, reference] };
    const name = reference.slice(reference.lastIndexOf('/') + 1);
    return { schema: name === '' ? beside : { description: name, ...beside }, path };
  }

  #mergeAll(schema: GeminiSchema, allOf: readonly JsonValue[], path: readonly string[]): Found {
    const { allOf: _, ...beside } = schema;
    if (this.#depth > maxDepth) {
      this.#noteCut();
      return { schema: beside, path };
    }
    this.#depth++;
    const entries = allOf.filter(isJsonObject).map((entry) => this.#flatten({ schema: entry, path }));
    this.#depth--;
    return {
      schema: entries.reduceRight((merged, entry) => mergeSchemas(entry.schema, merged), beside as JsonObject),
      path: [...new Set(entries.flatMap((entry) => entry.path).concat(path))],
    };
  }

  #noteCut(): void {
    this.#notes.approximate('recursion in schemas as description');
  }

  #member(name: string, value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
    if (name === 'items') return this.#inner(value, path);
    if (name === 'anyOf' && Array.isArray(value)) return value.map((entry) => this.#inner(entry, path));
    if (name !== 'properties' || !isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([property, inner]) => [property, this.#inner(inner, path)]));
  }

  /** `true` and anything that is not a schema allow any value. */
  #inner(value: JsonValue | undefined, path: readonly string[]): JsonObject {
    return this.clean(isJsonObject(value) ? value : {}, path);
  }
}
