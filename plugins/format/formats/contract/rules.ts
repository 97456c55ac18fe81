import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { JsonSchema } from '#core/platform/schema.ts';

interface Fault {
  /** Path inside the value, such as `[2]`. */
  readonly position: string;
  readonly expected: string;
}
/** Returns undefined for a valid value, otherwise a description of valid values, with the position if only a part is invalid. */
type Check = (value: JsonValue) => string | Fault | undefined;
/** A check together with its JSON Schema, for the API documentation. */
export type Rule = Check & { readonly schema: JsonSchema };

function defineRule(schema: JsonSchema, check: Check): Rule {
  return Object.assign(check, { schema });
}

function simpleRule(schema: JsonSchema, expected: string, isValid: (value: JsonValue) => boolean): Rule {
  return defineRule(schema, (value) => (isValid(value) ? undefined : expected));
}

const isString = (value: JsonValue) => typeof value === 'string';

export const boolean = simpleRule({ type: 'boolean' }, 'true or false', (value) => typeof value === 'boolean');
/** Defines a rule for a feature that cannot work through a gateway. */
export const mustBeFalse = (reason: string): Rule =>
  simpleRule({ const: false }, `false: ${reason}`, (value) => value === false);
export const text = simpleRule({ type: 'string' }, 'a string', isString);
export const object = simpleRule({ type: 'object' }, 'an object', isJsonObject);
export const textOrObject = simpleRule(
  { type: ['string', 'object'] },
  'a string or an object',
  (value) => isString(value) || isJsonObject(value),
);

export const oneOf = (words: readonly string[], expected: string): Rule =>
  simpleRule({ type: 'string', enum: words }, expected, (value) => (words as readonly JsonValue[]).includes(value));

export const number = (minimum: number, maximum: number): Rule =>
  simpleRule(
    { type: 'number', minimum, maximum },
    `a number from ${minimum} to ${maximum}`,
    (value) => typeof value === 'number' && value >= minimum && value <= maximum,
  );

export const integer = (minimum: number, maximum = 1_000_000_000): Rule =>
  simpleRule(
    { type: 'integer', minimum, maximum },
    `an integer from ${minimum} to ${maximum}`,
    (value) => typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum,
  );

/** A 64-bit integer, as in OpenAI's reference. */
export const seed = integer(-(2 ** 63), 2 ** 63);

const listOf = (entry: Rule): Rule =>
  defineRule({ type: 'array', items: entry.schema }, (value) => {
    if (!Array.isArray(value)) return 'a list';
    for (let index = 0; index < value.length; index++) {
      const fault = entry(value[index] as JsonValue);
      if (typeof fault === 'string') return { position: `[${index}]`, expected: fault };
      if (fault !== undefined) return { position: `[${index}]${fault.position}`, expected: fault.expected };
    }
    return undefined;
  });
export const objects = listOf(object);
export const texts = listOf(text);

const entryOrList = (entry: Rule, list: Rule): Rule =>
  defineRule({ anyOf: [entry.schema, list.schema] }, (value) => (entry(value) === undefined ? undefined : list(value)));
export const objectOrObjects = entryOrList(object, objects);
export const textOrTexts = entryOrList(text, texts);

/** Like `entryOrList`, but with a shorter message. */
export const textOr = (list: Rule): Rule =>
  defineRule({ anyOf: [text.schema, list.schema] }, (value) => {
    if (isString(value)) return undefined;
    return Array.isArray(value) ? list(value) : 'a string or a list';
  });

export const nonEmptyListOf = (entry: Rule): Rule => {
  const list = listOf(entry);
  return defineRule({ ...list.schema, minItems: 1 }, (value) =>
    Array.isArray(value) && value.length > 0 ? list(value) : 'a list with at least one entry',
  );
};
export const nonEmptyObjects = nonEmptyListOf(object);

export const objectWith = (name: string, member: Rule): Rule =>
  defineRule({ type: 'object', properties: { [name]: member.schema }, required: [name] }, (value) => {
    if (!isJsonObject(value)) return 'an object';
    const fault = member(value[name] ?? null);
    return typeof fault === 'string' ? { position: `.${name}`, expected: fault } : undefined;
  });

/** Rejects an empty text, an empty list, and a list with empty entries. Values of other types are left to the upstream. */
export const nonEmpty = defineRule({ minLength: 1, minItems: 1 }, (value) => {
  const expected = 'a non-empty string or list';
  if (!Array.isArray(value)) return value === '' ? expected : undefined;
  if (value.length === 0) return expected;
  const emptyIndex = value.findIndex((entry) => entry === '' || (Array.isArray(entry) && entry.length === 0));
  return emptyIndex === -1 ? undefined : { position: `[${emptyIndex}]`, expected: 'non-empty' };
});

/** For parameters that only a translation reads; it ignores values that it does not know. */
export const anything = defineRule({}, () => undefined);
