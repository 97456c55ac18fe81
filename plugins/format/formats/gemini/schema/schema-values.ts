import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { addWords } from '../../../canonical/merge-schemas.ts';
import type { Notes } from '../../../canonical/notes.ts';
import type { GeminiSchema } from '../../../wire/gemini.ts';

/** Null is a type in JSON Schema but not in the subset. */
export function nullRule(schema: GeminiSchema): JsonObject {
  if (schema.type !== 'null') return schema;
  return { ...addWords(schema, 'always null'), type: 'string', nullable: true };
}

/** `const` becomes an enumeration with one value. Only non-empty strings can be enumerated; other values are described. */
export function enumRule(schema: GeminiSchema, notes: Notes): JsonObject {
  const { enum: listed, const: only, ...rest } = schema;
  const values = only === undefined ? listed : [only];
  if (!Array.isArray(values) || values.length === 0) return rest;
  const nullable = values.includes(null) ? { nullable: true } : {};
  const some = values.filter((value) => value !== null);
  if (some.length === 0) return { ...addWords(rest, 'always null'), ...nullable };
  if (some.every((value) => typeof value === 'string' && value !== '') && isTextual(rest.type)) {
    return { ...rest, ...nullable, type: 'string', enum: [...new Set(some)] };
  }
  noteDescribed('enum', notes);
  const described = addWords(rest, `one of ${some.map((value) => JSON.stringify(value)).join(', ')}`);
  return { ...described, ...(rest.type === undefined && typeOfAll(some)), ...nullable };
}

function isTextual(type: JsonValue | undefined): boolean {
  return type === undefined || type === 'string';
}

/** The common type of all values, if the subset has this type. */
function typeOfAll(values: readonly JsonValue[]): JsonObject {
  const types = new Set(values.map((value) => (Array.isArray(value) ? 'array' : typeof value)));
  const [only] = types;
  return types.size === 1 && only !== undefined ? { type: only } : {};
}

/** Exclusive bounds: for integers the next value is the inclusive bound. */
export function boundsRule(schema: GeminiSchema): JsonObject {
  const { exclusiveMinimum: above, exclusiveMaximum: below, ...rest } = schema;
  const step = rest.type === 'integer' ? 1 : 0;
  let bound: GeminiSchema = rest;
  if (typeof above === 'number')
    bound = withBound(bound, 'minimum', Math.floor(above) + step, above, step, 'more than');
  if (typeof below === 'number') bound = withBound(bound, 'maximum', Math.ceil(below) - step, below, step, 'less than');
  return bound;
}

function withBound(
  schema: GeminiSchema,
  name: 'minimum' | 'maximum',
  next: number,
  limit: number,
  step: number,
  words: string,
): JsonObject {
  const value = step === 0 ? limit : next;
  const own = schema[name];
  const tighter = typeof own !== 'number' ? value : name === 'minimum' ? Math.max(own, value) : Math.min(own, value);
  const bound = { ...schema, [name]: tighter };
  return step === 0 ? addWords(bound, `${words} ${limit}`) : bound;
}

/** Arrays have one schema for all entries; the entries of a tuple become alternatives, and their order is described. */
export function itemsRule(schema: GeminiSchema): JsonObject {
  const { items, prefixItems, ...rest } = schema;
  const tuple = [prefixItems, items].find((list) => Array.isArray(list) && list.length > 0);
  if (Array.isArray(tuple)) {
    const others = isJsonObject(items) ? [items] : items === false ? [] : [{}];
    const words = `entries in this order: ${tuple.map((entry) => JSON.stringify(entry)).join(', ')}`;
    return { ...addWords(rest, words), items: { anyOf: [...tuple, ...others] } };
  }
  if (isJsonObject(items)) return { ...rest, items };
  return rest.type === 'array' ? { ...rest, items: {} } : rest;
}

const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);
/** Keywords that only make sense with a type. */
const typeOf: readonly (readonly [keyof GeminiSchema, string])[] = [
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
const anything = ['string', 'number', 'boolean'].map((type) => ({ type }));

/** Every schema needs a type or alternatives with a type. */
export function typeRule(schema: GeminiSchema): JsonObject {
  if (Array.isArray(schema.anyOf)) return schema;
  const { type } = schema;
  const plain = typeof type === 'string' ? type.toLowerCase() : undefined;
  if (plain !== undefined && types.has(plain)) return withItems({ ...schema, type: plain });
  const implied = typeOf.find(([keyword]) => schema[keyword] !== undefined)?.[1];
  if (implied !== undefined) return withItems({ ...schema, type: implied });
  const { type: _, ...rest } = schema;
  return { ...addWords(rest, 'any JSON value'), anyOf: anything };
}

function withItems(schema: GeminiSchema): JsonObject {
  return schema.type === 'array' && schema.items === undefined ? { ...schema, items: {} } : schema;
}

/** Only described members can be required. */
export function requiredRule(schema: GeminiSchema): JsonObject {
  const { required, properties, ...rest } = schema;
  if (!isJsonObject(properties) || Object.keys(properties).length === 0) return rest;
  const names = Array.isArray(required)
    ? required.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name))
    : [];
  return { ...rest, properties, ...(names.length > 0 && { required: names }) };
}

/** Descriptions of keywords that the subset lacks. Keywords that only name, comment or contain other keywords need no description. */
const words: readonly (readonly [string, (value: JsonValue) => string | undefined])[] = [
  ['default', (value) => `default: ${shown(value)}`],
  ['examples', (value) => `for example: ${Array.isArray(value) ? value.map(shown).join(', ') : shown(value)}`],
  ['multipleOf', (value) => `a multiple of ${shown(value)}`],
  ['uniqueItems', (value) => (value === true ? 'no entry twice' : undefined)],
  ['contains', (value) => `at least one entry must match ${shown(value)}`],
  ['minProperties', (value) => `at least ${shown(value)} members`],
  ['maxProperties', (value) => `at most ${shown(value)} members`],
  ['propertyNames', (value) => `names of members must match ${shown(value)}`],
  ['patternProperties', (value) => `members by the pattern of their names: ${shown(value)}`],
  [
    'additionalProperties',
    (value) => (typeof value === 'object' ? `other members must match ${shown(value)}` : undefined),
  ],
  ['dependentRequired', (value) => `members that require others: ${shown(value)}`],
  ['dependentSchemas', (value) => `schemas that apply when a member is present: ${shown(value)}`],
  ['dependencies', (value) => `members that require others: ${shown(value)}`],
  ['not', (value) => `must not match ${shown(value)}`],
  ['if', (value) => `if it matches ${shown(value)}`],
  ['then', (value) => `then it must match ${shown(value)}`],
  ['else', (value) => `else it must match ${shown(value)}`],
  ['contentEncoding', (value) => `encoded as ${shown(value)}`],
  ['contentMediaType', (value) => `of the media type ${shown(value)}`],
];

/** Formats that Google accepts; it rejects all others. */
const formats = new Set(['float', 'double', 'int32', 'int64', 'date-time', 'enum']);

/** Keywords that restrict no value. */
const harmless = new Set(['default', 'examples']);

/** Describes keywords that the subset lacks, and notes rules that are no longer enforced. */
export function describeUnsupported(schema: JsonObject, notes: Notes): JsonObject {
  const { format, ...rest }: GeminiSchema = schema;
  const isKnown = typeof format !== 'string' || formats.has(format);
  const formatted = isKnown ? schema : addWords(rest, `format: ${format}`);
  return words.reduce((described, [keyword, say]) => {
    const value = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
    const line = value === undefined ? undefined : say(value);
    if (line === undefined) return described;
    if (!harmless.has(keyword)) noteDescribed(keyword, notes);
    return addWords(described, line);
  }, formatted);
}

function noteDescribed(keyword: string, notes: Notes): void {
  notes.approximate(`${keyword} in schemas as description`);
}

function shown(value: JsonValue): string {
  return JSON.stringify(value);
}
