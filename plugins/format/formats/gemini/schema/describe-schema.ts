import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../../canonical/notes.ts';
import type { GeminiSchema } from '../../../wire/gemini.ts';

/** Appends a line to the description of a schema. */
export function addWords(schema: GeminiSchema, words: string): JsonObject {
  const { description } = schema;
  const isThere = typeof description === 'string' && description !== '';
  return { ...schema, description: isThere ? `${description}\n${words}` : words };
}

/** Descriptions of keywords that the subset lacks. Keywords that only name, comment or contain others need none. */
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

/** Formats that are accepted; others are refused. */
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

/** Notes that a keyword is only described. */
export function noteDescribed(keyword: string, notes: Notes): void {
  notes.approximate(`${keyword} in schemas as description`);
}

function shown(value: JsonValue): string {
  return JSON.stringify(value);
}
