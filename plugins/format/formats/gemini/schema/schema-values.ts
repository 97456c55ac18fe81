import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { appendDescription } from '../../../canonical/merge-schemas.ts';
import type { Notes } from '../../../canonical/notes.ts';
import type { GeminiSchema } from '../../../wire/gemini.ts';
import { asText } from '../../../wire/members.ts';

/** The subset lacks the type null. */
export function nullRule(schema: GeminiSchema): JsonObject {
  if (schema.type !== 'null') return schema;
  return { ...appendDescription(schema, 'always null'), type: 'string', nullable: true };
}

/** Only non-empty strings can be enumerated; other values go into the description. */
export function enumRule(schema: GeminiSchema, notes: Notes): JsonObject {
  const { enum: enumeration, const: only, ...members } = schema;
  const values = only === undefined ? enumeration : [only];
  if (!Array.isArray(values) || values.length === 0) return members;
  const nullable = values.includes(null) ? { nullable: true } : {};
  const nonNull = values.filter((value) => value !== null);
  if (nonNull.length === 0) return { ...appendDescription(members, 'always null'), ...nullable };
  if (nonNull.every((value) => typeof value === 'string' && value !== '') && isTextual(members.type)) {
    return { ...members, ...nullable, type: 'string', enum: [...new Set(nonNull)] };
  }
  noteDescribed('enum', notes);
  const describedSchema = appendDescription(
    members,
    `one of ${nonNull.map((value) => JSON.stringify(value)).join(', ')}`,
  );
  return { ...describedSchema, ...(members.type === undefined && findCommonType(nonNull)), ...nullable };
}

function isTextual(type: JsonValue | undefined): boolean {
  return type === undefined || type === 'string';
}

function findCommonType(values: readonly JsonValue[]): JsonObject {
  const types = new Set(values.map((value) => (Array.isArray(value) ? 'array' : typeof value)));
  const [only] = types;
  return types.size === 1 && only !== undefined ? { type: only } : {};
}

/**
 * Makes exclusive bounds inclusive. For integers, the bound becomes the next value. For other numbers, the bound is unchanged, and the
 * description states that it is exclusive.
 */
export function boundsRule(schema: GeminiSchema): JsonObject {
  const { exclusiveMinimum: above, exclusiveMaximum: below, ...members } = schema;
  const isInteger = members.type === 'integer';
  let boundedSchema: GeminiSchema = members;
  if (typeof above === 'number') {
    boundedSchema = withMinimum(boundedSchema, isInteger ? Math.floor(above) + 1 : above);
    if (!isInteger) boundedSchema = appendDescription(boundedSchema, `more than ${above}`);
  }
  if (typeof below === 'number') {
    boundedSchema = withMaximum(boundedSchema, isInteger ? Math.ceil(below) - 1 : below);
    if (!isInteger) boundedSchema = appendDescription(boundedSchema, `less than ${below}`);
  }
  return boundedSchema;
}

function withMinimum(schema: GeminiSchema, bound: number): GeminiSchema {
  const { minimum } = schema;
  return { ...schema, minimum: typeof minimum === 'number' ? Math.max(minimum, bound) : bound };
}

function withMaximum(schema: GeminiSchema, bound: number): GeminiSchema {
  const { maximum } = schema;
  return { ...schema, maximum: typeof maximum === 'number' ? Math.min(maximum, bound) : bound };
}

/** The entries of a tuple become alternatives, and the description gives their order. */
export function itemsRule(schema: GeminiSchema): JsonObject {
  const { items, prefixItems, ...members } = schema;
  const tuple = [prefixItems, items].find((list) => Array.isArray(list) && list.length > 0);
  if (Array.isArray(tuple)) {
    const anyEntry = items === false ? [] : [{}];
    const furtherEntries = isJsonObject(items) ? [items] : anyEntry;
    const order = `entries in this order: ${tuple.map((entry) => JSON.stringify(entry)).join(', ')}`;
    return { ...appendDescription(members, order), items: { anyOf: [...tuple, ...furtherEntries] } };
  }
  if (isJsonObject(items)) return { ...members, items };
  return members.type === 'array' ? { ...members, items: {} } : members;
}

const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);
const impliedTypes: readonly (readonly [keyof GeminiSchema, string])[] = [
  ['properties', 'object'],
  ['additionalProperties', 'object'],
  ['required', 'object'],
  ['items', 'array'],
  ['minItems', 'array'],
  ['pattern', 'string'],
  ['minLength', 'string'],
  ['minimum', 'number'],
  ['maximum', 'number'],
];
const scalarTypes = ['string', 'number', 'boolean'].map((type) => ({ type }));

/** Every schema without alternatives needs a type. */
export function typeRule(schema: GeminiSchema): JsonObject {
  if (Array.isArray(schema.anyOf)) return schema;
  const { type: statedType, ...members } = schema;
  const lowerType = asText(statedType).toLowerCase();
  const impliedType = impliedTypes.find(([keyword]) => schema[keyword] !== undefined)?.[1];
  const type = types.has(lowerType) ? lowerType : impliedType;
  if (type === undefined) return { ...appendDescription(members, 'any JSON value'), anyOf: scalarTypes };
  const needsItems = type === 'array' && schema.items === undefined;
  return { ...schema, type, ...(needsItems && { items: {} }) };
}

/** Removes required names that have no property, and `properties` if it is empty. */
export function requiredRule(schema: GeminiSchema): JsonObject {
  const { required, properties, ...members } = schema;
  if (!isJsonObject(properties) || Object.keys(properties).length === 0) return members;
  const names = Array.isArray(required)
    ? required.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name))
    : [];
  return { ...members, properties, ...(names.length > 0 && { required: names }) };
}

/** Keywords that only name, comment on or contain others need no description. */
const descriptions: readonly (readonly [string, (value: JsonValue) => string | undefined])[] = [
  ['default', (value) => `default: ${toJson(value)}`],
  ['examples', (value) => `for example: ${Array.isArray(value) ? value.map(toJson).join(', ') : toJson(value)}`],
  ['multipleOf', (value) => `a multiple of ${toJson(value)}`],
  ['uniqueItems', (value) => (value === true ? 'no entry twice' : undefined)],
  ['contains', (value) => `at least one entry must match ${toJson(value)}`],
  ['minProperties', (value) => `at least ${toJson(value)} members`],
  ['maxProperties', (value) => `at most ${toJson(value)} members`],
  ['propertyNames', (value) => `names of members must match ${toJson(value)}`],
  ['patternProperties', (value) => `members by the pattern of their names: ${toJson(value)}`],
  [
    'additionalProperties',
    (value) => (typeof value === 'object' ? `other members must match ${toJson(value)}` : undefined),
  ],
  ['dependentRequired', (value) => `members that require others: ${toJson(value)}`],
  ['dependentSchemas', (value) => `schemas that apply when a member is present: ${toJson(value)}`],
  ['dependencies', (value) => `members that require others: ${toJson(value)}`],
  ['not', (value) => `must not match ${toJson(value)}`],
  ['if', (value) => `if it matches ${toJson(value)}`],
  ['then', (value) => `then it must match ${toJson(value)}`],
  ['else', (value) => `else it must match ${toJson(value)}`],
  ['contentEncoding', (value) => `encoded as ${toJson(value)}`],
  ['contentMediaType', (value) => `of the media type ${toJson(value)}`],
];

const supportedFormats = new Set(['float', 'double', 'int32', 'int64', 'date-time', 'enum']); // Google rejects all others

const annotationKeywords = new Set(['default', 'examples']);

export function describeUnsupported(schema: JsonObject, notes: Notes): JsonObject {
  const { format, ...members }: GeminiSchema = schema;
  const isSupported = typeof format !== 'string' || supportedFormats.has(format);
  let describedSchema = isSupported ? schema : appendDescription(members, `format: ${format}`);
  for (const [keyword, describe] of descriptions) {
    const value = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
    const description = value === undefined ? undefined : describe(value);
    if (description === undefined) continue;
    if (!annotationKeywords.has(keyword)) noteDescribed(keyword, notes);
    describedSchema = appendDescription(describedSchema, description);
  }
  return describedSchema;
}

function noteDescribed(keyword: string, notes: Notes): void {
  notes.approximate(`${keyword} in schemas as description`);
}

function toJson(value: JsonValue): string {
  return JSON.stringify(value);
}
