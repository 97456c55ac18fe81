import { isJsonObject, listObjects, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { appendKeywords } from './fit-schema.ts';
import { alternativeKeywords, findReference, mergeSchemas } from './merge-schemas.ts';
import type { Notes } from './notes.ts';

const maxSchemas = 500; // bounds mutually recursive references
const refusedAtTopLevel = new Set(['not', 'enum', 'const', 'if', 'then', 'else']);

/**
 * Converts the schema of a tool's input into the schema of an object.
 *
 * @param refusesAlternatives true if the vendor refuses alternatives at the top level. They are then combined into one object and repeated
 *   in the description. Anthropic: "input_schema does not support oneOf, allOf, or anyOf at the top level"; OpenAI: "schema must have type
 *   'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level".
 */
export function toObjectSchema(schema: JsonObject | undefined, refusesAlternatives: boolean, notes: Notes): JsonObject {
  const flatSchema =
    refusesAlternatives && schema !== undefined ? new Flattener(schema, notes).flatten(schema) : schema;
  return flatSchema?.['type'] === 'object' ? flatSchema : { properties: {}, ...flatSchema, type: 'object' };
}

class Flattener {
  readonly #root: JsonObject;
  readonly #notes: Notes;
  #schemaCount = 0;

  constructor(root: JsonObject, notes: Notes) {
    this.#root = root;
    this.#notes = notes;
  }

  flatten(schema: JsonObject): JsonObject {
    this.#schemaCount++;
    if (this.#schemaCount > maxSchemas) return {};
    const mergedSchema = this.#merge(schema);
    const keyword = alternativeKeywords.find((name) => Array.isArray(mergedSchema[name]));
    return this.#moveRefusedToDescription(
      keyword === undefined ? mergedSchema : this.#uniteAlternatives(mergedSchema, keyword),
    );
  }

  #merge(schema: JsonObject): JsonObject {
    const { $ref: reference, allOf, ...others } = schema;
    if (typeof reference === 'string') {
      const target = findReference(this.#root, reference) ?? {};
      const { $ref: _, ...siblings } = schema;
      return this.flatten(mergeSchemas(target, siblings));
    }
    if (!Array.isArray(allOf)) return schema;
    const entries = allOf.filter(isJsonObject).map((entry) => this.flatten(entry));
    return entries.reduceRight<JsonObject>((all, entry) => mergeSchemas(entry, all), others);
  }

  #uniteAlternatives(schema: JsonObject, keyword: string): JsonObject {
    const { [keyword]: alternatives = [], ...others } = schema;
    this.#notes.approximate(`${keyword} at the top of a tool as description`);
    const entries = listObjects(alternatives).map((entry) => this.flatten(entry));
    const objects = entries.filter(({ type }) => type === undefined || type === 'object');
    const required = new Set([...requiredOf(others), ...findShared(objects.map(requiredOf))]);
    const isClosed = objects.length > 0 && objects.every(({ additionalProperties }) => additionalProperties === false);
    const unitedSchema = {
      ...others,
      properties: { ...collectMembers(objects), ...(isJsonObject(others['properties']) && others['properties']) },
      ...(required.size > 0 && { required: [...required] }),
      ...(isClosed && { additionalProperties: false }),
    };
    return appendKeywords(unitedSchema, [[keyword, alternatives]]);
  }

  #moveRefusedToDescription(schema: JsonObject): JsonObject {
    const refusedEntries = Object.entries(schema).filter(([name]) => refusedAtTopLevel.has(name));
    if (refusedEntries.length === 0) return schema;
    for (const [name] of refusedEntries) this.#notes.approximate(`${name} at the top of a tool as description`);
    const acceptedEntries = Object.entries(schema).filter(([name]) => !refusedAtTopLevel.has(name));
    return appendKeywords(
      Object.fromEntries(acceptedEntries),
      refusedEntries.map(([name, value]) => [name, value as JsonValue] as const),
    );
  }
}

function collectMembers(objects: readonly JsonObject[]): JsonObject {
  const members = new Map<string, Map<string, JsonValue>>();
  for (const { properties } of objects) {
    for (const [name, value] of Object.entries(isJsonObject(properties) ? properties : {})) {
      const variants = members.get(name) ?? new Map<string, JsonValue>();
      members.set(name, variants.set(JSON.stringify(value), value as JsonValue));
    }
  }
  return Object.fromEntries(
    [...members].map(([name, variants]) => {
      const [only, ...others] = variants.values();
      return [name, others.length === 0 ? only : { anyOf: [...variants.values()] }];
    }),
  );
}

function requiredOf({ required }: JsonObject): readonly JsonValue[] {
  return Array.isArray(required) ? required : [];
}

function findShared([first = [], ...others]: readonly (readonly JsonValue[])[]): JsonValue[] {
  return first.filter((name) => others.every((list) => list.includes(name)));
}
