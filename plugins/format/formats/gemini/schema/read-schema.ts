import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { renameToCamelCase } from '../../../wire/gemini-fields.ts';
import type { GeminiSchema } from '../../../wire/gemini.ts';
import { listTexts } from '../../../wire/members.ts';

const countKeywords = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);
const apiKeywords = new Set(['propertyOrdering', 'nullable', 'example']);

/**
 * Translates one of the API's schemas, which resemble OpenAPI 3.0, into JSON Schema. Returns a schema that is already JSON Schema
 * unchanged. Source: Gemini API reference, "Schema".
 */
export function readSchema(schema: JsonObject): JsonObject {
  const fields: GeminiSchema = renameToCamelCase(schema);
  const members = Object.entries(fields).map(([name, value]) => [name, readMember(name, value)] as const);
  const jsonSchema = sortProperties(Object.fromEntries(members.filter(([, value]) => value !== undefined)), fields);
  return fields.nullable === true ? addNull(jsonSchema) : jsonSchema;
}

function sortProperties(schema: JsonObject, { propertyOrdering: order }: GeminiSchema): JsonObject {
  const { properties } = schema;
  if (!Array.isArray(order) || !isJsonObject(properties)) return schema;
  // JSON Schema has no keyword for the order of properties.
  const orderedNames = listTexts(order).filter((name) => Object.hasOwn(properties, name));
  const names = new Set([...orderedNames, ...Object.keys(properties)]);
  return { ...schema, properties: Object.fromEntries([...names].map((name) => [name, properties[name]])) };
}

function readMember(name: string, value: JsonValue | undefined): JsonValue | undefined {
  if (apiKeywords.has(name) || (name === 'format' && value === 'enum')) return undefined;
  if (name === 'type') return readType(value);
  // The API writes 64-bit counts as strings.
  if (countKeywords.has(name) && typeof value === 'string')
    return Number.isInteger(Number(value)) ? Number(value) : undefined;
  if (name === 'properties' && isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([property, inner]) => [property, readValue(inner)]));
  }
  return name === 'items' || name === 'anyOf' || name === 'additionalProperties' ? readValue(value) : value;
}

function readValue(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((entry) => (isJsonObject(entry) ? readSchema(entry) : entry));
  return isJsonObject(value) ? readSchema(value) : value;
}

function readType(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== 'string') return value;
  return value === 'TYPE_UNSPECIFIED' ? undefined : value.toLowerCase();
}

function addNull(schema: GeminiSchema): JsonObject {
  const { anyOf, type } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  if (typeof type !== 'string' || type === 'null') return schema;
  const nullableEnum = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  return { ...schema, type: [type, 'null'], ...nullableEnum };
}
