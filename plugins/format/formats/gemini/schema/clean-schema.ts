import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { findReference, mergeSchemas } from '../../../canonical/merge-schemas.ts';
import { Notes } from '../../../canonical/notes.ts';
import type { GeminiSchema } from '../../../wire/gemini.ts';
import { distributeAnyOf, splitTypes } from './schema-structure.ts';
import {
  describeUnsupported,
  boundsRule,
  enumRule,
  itemsRule,
  nullRule,
  requiredRule,
  typeRule,
} from './schema-values.ts';

type Check = (value: JsonValue) => boolean;
const isText: Check = (value) => typeof value === 'string' && value !== '';
const isNumber: Check = (value) => typeof value === 'number';
const isList: Check = (value) => Array.isArray(value) && value.length > 0;

const subsetKeywords: Readonly<Record<string, Check>> = {
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
const maxSchemas = 2_000; // mutually recursive references multiply
const maxDepth = 200; // the same as the limit for request bodies

/** Applied in this order, to a flat schema before the schemas inside it. */
const translationRules: readonly ((schema: JsonObject, notes: Notes) => JsonObject)[] = [
  nullRule,
  enumRule,
  boundsRule,
  itemsRule,
  describeUnsupported,
  typeRule,
  requiredRule,
];

/**
 * Translates a JSON Schema into the subset of OpenAPI that older models accept. Keywords that the subset lacks move into the description.
 * Values that match the original also match the result, except that a schema for any value becomes one for scalar values.
 *
 * Source: Gemini API reference, "Schema".
 *
 * @param notes gets an entry for each keyword that is no longer enforced
 */
export function cleanSchema(schema: JsonObject, notes = new Notes()): JsonObject {
  return new SchemaCleaner(schema, notes).clean(schema, []);
}

function removeMalformed(schema: JsonObject): JsonObject {
  const members = Object.entries(schema).filter(([name, value]) => {
    if (value === undefined) return false;
    // A list means a tuple, which `itemsRule` handles.
    if (name === 'items' && Array.isArray(value)) return true;
    return !Object.hasOwn(subsetKeywords, name) || subsetKeywords[name]?.(value) === true;
  });
  return Object.fromEntries(members);
}

/** A reference that is already in the trail is recursive. */
interface ReferencedSchema {
  readonly schema: JsonObject;
  readonly trail: readonly string[];
}

class SchemaCleaner {
  readonly #root: JsonObject;
  readonly #notes: Notes;
  #schemaCount = 0;
  #depth = 0;

  constructor(root: JsonObject, notes: Notes) {
    this.#root = root;
    this.#notes = notes;
  }

  clean(original: JsonObject, originalTrail: readonly string[]): JsonObject {
    if (this.#depth > maxDepth) {
      this.#noteRecursion();
      return { type: 'string', description: 'any JSON value' };
    }
    this.#depth++;
    const { schema, trail } = this.#flatten({ schema: original, trail: originalTrail });
    const translatedSchema = translationRules.reduce(
      (value, rule) => rule(value, this.#notes),
      removeMalformed(schema),
    );
    const members = Object.entries(translatedSchema).filter(([name]) => Object.hasOwn(subsetKeywords, name));
    const cleaned = members.map(([name, value]) => [name, this.#cleanMember(name, value, trail)] as const);
    this.#depth--;
    return Object.fromEntries(cleaned);
  }

  #flatten(referenced: ReferencedSchema): ReferencedSchema {
    this.#schemaCount++;
    const { trail } = referenced;
    const schema: GeminiSchema = referenced.schema;
    if (typeof schema.$ref === 'string') return this.#flatten(this.#resolve(schema, schema.$ref, trail));
    if (Array.isArray(schema.allOf)) return this.#flatten(this.#mergeAll(schema, schema.allOf, trail));
    const flatSchema: GeminiSchema = distributeAnyOf(splitTypes(schema));
    const isFlat = typeof flatSchema.$ref !== 'string' && !Array.isArray(flatSchema.allOf);
    return isFlat ? { schema: flatSchema, trail } : this.#flatten({ schema: flatSchema, trail });
  }

  #resolve(schema: GeminiSchema, reference: string, trail: readonly string[]): ReferencedSchema {
    const { $ref: _, ...siblings } = schema;
    const isEndless = trail.includes(reference) || trail.length > maxDepth || this.#schemaCount > maxSchemas;
    if (isEndless) this.#noteRecursion();
    const target = isEndless ? undefined : findReference(this.#root, reference);
    if (target !== undefined) return { schema: mergeSchemas(target, siblings), trail: [...trail, reference] };
    const name = reference.slice(reference.lastIndexOf('/') + 1);
    return { schema: name === '' ? siblings : { description: name, ...siblings }, trail };
  }

  #mergeAll(schema: GeminiSchema, allOf: readonly JsonValue[], trail: readonly string[]): ReferencedSchema {
    const { allOf: _, ...siblings } = schema;
    if (this.#depth > maxDepth) {
      this.#noteRecursion();
      return { schema: siblings, trail };
    }
    this.#depth++;
    const entries = allOf.filter(isJsonObject).map((entry) => this.#flatten({ schema: entry, trail }));
    this.#depth--;
    return {
      schema: entries.reduceRight((merged, entry) => mergeSchemas(entry.schema, merged), siblings as JsonObject),
      trail: [...new Set(entries.flatMap((entry) => entry.trail).concat(trail))],
    };
  }

  #noteRecursion(): void {
    this.#notes.approximate('recursion in schemas as description');
  }

  #cleanMember(name: string, value: JsonValue | undefined, trail: readonly string[]): JsonValue | undefined {
    if (name === 'items') return this.#cleanInner(value, trail);
    if (name === 'anyOf' && Array.isArray(value)) return value.map((entry) => this.#cleanInner(entry, trail));
    if (name !== 'properties' || !isJsonObject(value)) return value;
    const properties = Object.entries(value).map(([property, inner]) => [property, this.#cleanInner(inner, trail)]);
    return Object.fromEntries(properties);
  }

  #cleanInner(value: JsonValue | undefined, trail: readonly string[]): JsonObject {
    // `true` and anything that is not a schema allow any value.
    return this.clean(isJsonObject(value) ? value : {}, trail);
  }
}
