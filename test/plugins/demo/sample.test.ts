import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { findHints, createSample } from '../../../plugins/demo/sample.ts';
import { splitIntoTokens } from '../../../plugins/demo/tokens.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const noHints = findHints('');

describe('sample', () => {
  it.each<[string, JsonObject]>([
    ['an empty schema', {}],
    [
      'an object',
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
    ],
    ['optional properties only', { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'boolean' } } }],
    ['a required property without a schema', { type: 'object', required: ['a'] }],
    ['a closed empty object', { type: 'object', properties: {}, additionalProperties: false }],
    ['enum and const', { properties: { a: { enum: [3, 4] }, b: { const: 'x' } }, required: ['a', 'b'] }],
    ['bounds', { type: 'integer', minimum: 10, maximum: 12 }],
    ['open bounds', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }],
    ['negative bounds', { type: 'integer', maximum: -5 }],
    ['steps', { type: 'integer', multipleOf: 7, minimum: 8 }],
    ['a lower bound that is not a multiple of the step', { type: 'number', multipleOf: 0.5, exclusiveMinimum: 3.5 }],
    ['lengths', { type: 'string', minLength: 12, maxLength: 14 }],
    ['a short text', { type: 'string', maxLength: 2 }],
    ['lists', { type: 'array', items: { type: 'number' }, minItems: 3, maxItems: 3 }],
    ['lists of different entries', { type: 'array', items: { type: 'string' }, minItems: 3, uniqueItems: true }],
    ['an empty list', { type: 'array', maxItems: 0 }],
    ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false, minItems: 2 }],
    ['a type that may be null', { type: ['null', 'string'] }],
    ['null', { type: 'null' }],
    ['one of several', { anyOf: [{ type: 'null' }, { type: 'integer', minimum: 5 }] }],
    [
      'all of several',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { type: 'boolean' } }, required: ['b'] },
        ],
      },
    ],
    [
      'references',
      {
        $defs: { 'a/b': { type: 'integer', minimum: 2 } },
        type: 'object',
        properties: { x: { $ref: '#/$defs/a~1b' } },
        required: ['x'],
      },
    ],
    [
      'a tree that refers to itself',
      {
        type: 'object',
        properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
        required: ['name', 'children'],
        additionalProperties: false,
      },
    ],
    ['names that every object has', { type: 'object', properties: { a: { type: 'string' } }, required: ['toString'] }],
  ])('the sample of %s satisfies its schema', (_, schema) => {
    const validate = ajv.compile(schema);
    const sample = createSample(schema, noHints);
    expect(validate(sample), `${JSON.stringify(sample)} ${JSON.stringify(validate.errors)}`).toBe(true);
  });

  it.each<[string, JsonObject]>([
    ['an endless schema', { properties: { a: { $ref: '#' } }, required: ['a'] }],
    ['a loop of references', { $ref: '#' }],
    ['a schema that doubles at every level', doubling()],
    ['a schema of huge lists', { type: 'array', minItems: 1e9, items: { type: 'array', minItems: 1e9 } }],
  ])('the sample of %s is made in bounded time', (_, schema) => {
    const before = performance.now();
    createSample(schema, noHints);
    expect(performance.now() - before).toBeLessThan(15_000);
  });

  it('a sample takes its values from the prompt', () => {
    const hints = findHints('Book "Hotel Savoy" in Jakarta or New York, 2 nights, blue room; max=Fast');
    expect(hints).toMatchObject({ strings: ['Hotel Savoy', 'Jakarta', 'New York', 'Fast'], numbers: [2] });
    const schema: JsonObject = {
      type: 'object',
      properties: { name: { type: 'string' }, nights: { type: 'integer' }, colour: { enum: ['red', 'blue'] } },
      required: ['name', 'nights', 'colour'],
    };
    expect(createSample(schema, hints)).toEqual({ name: 'Hotel Savoy', nights: 2, colour: 'blue' });
    expect(createSample(schema, hints, 1)).toMatchObject({ name: 'Jakarta' });
  });
});

describe('tokens', () => {
  it.each(['', ' ', 'one two', '  a\n\nb  ', 'supercalifragilisticexpialidocious', '👩‍👩‍👧 🇮🇩 ok', '{"a":[1,2]}'])(
    'the tokens of %j join to the same text',
    (text) => {
      expect(splitIntoTokens(text).join('')).toBe(text);
    },
  );
});

/** A hundred bytes or so for each level, and twice as many values. */
function doubling(): JsonObject {
  const $defs: JsonObject = {};
  for (let level = 0; level < 40; level++) {
    const next = { $ref: `#/$defs/l${level + 1}` };
    $defs[`l${level}`] = { allOf: [next, next], properties: { a: next, b: next }, required: ['a', 'b'] };
  }
  return { $defs, $ref: '#/$defs/l0' };
}
