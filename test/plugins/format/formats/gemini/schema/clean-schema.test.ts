import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { Notes } from '../../../../../../plugins/format/canonical/notes.ts';
import { cleanSchema } from '../../../../../../plugins/format/formats/gemini/schema/clean-schema.ts';
import { readSchema } from '../../../../../../plugins/format/formats/gemini/schema/read-schema.ts';
import { runs } from '../../../../../support/runs.ts';

const keywords = new Set(
  (
    'type format description nullable enum items minItems maxItems properties required minimum maximum minLength ' +
    'maxLength pattern anyOf'
  ).split(' '),
);
const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);
const besideChoices = new Set(['anyOf', 'description', 'nullable']);

/** Every rule of the subset that is broken somewhere, by its path. */
function faultsOf(value: JsonValue | undefined, path = '$'): string[] {
  if (!isJsonObject(value)) return [`${path} is no schema`];
  const { properties, required = [], items, anyOf, type, enum: listed } = value;
  const faults = Object.keys(value).filter((name) => !keywords.has(name));
  if (anyOf === undefined ? !types.has(String(type)) : Object.keys(value).some((name) => !besideChoices.has(name))) {
    faults.push('type');
  }
  if (type === 'array' && items === undefined) faults.push('items');
  if (Array.isArray(listed) && !(type === 'string' && listed.every((one) => typeof one === 'string' && one !== ''))) {
    faults.push('enum');
  }
  const named = isJsonObject(properties) ? properties : {};
  if (!(required as string[]).every((name) => Object.hasOwn(named, name))) faults.push('required');
  return [
    ...faults.map((name) => `${path}.${name}`),
    ...Object.entries(named).flatMap(([name, inner]) => faultsOf(inner, `${path}.${name}`)),
    ...(items === undefined ? [] : faultsOf(items, `${path}[]`)),
    ...(Array.isArray(anyOf) ? anyOf.flatMap((inner, index) => faultsOf(inner, `${path}|${index}`)) : []),
  ];
}

describe('schemas that the Gemini subset can express', () => {
  it('a schema in the Gemini subset stays unchanged', () => {
    const schema = {
      type: 'object',
      description: 'D',
      properties: {
        name: { type: 'string', enum: ['a', 'b'], nullable: true },
        at: { type: 'string', format: 'date-time' },
        many: { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 1 },
      },
      required: ['name'],
    };
    expect(cleanSchema(schema)).toEqual(schema);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['null among types', { type: ['string', 'null'] }, { type: 'string', nullable: true }],
    ['several types', { type: ['string', 'integer'] }, { anyOf: [{ type: 'string' }, { type: 'integer' }] }],
    ['null among alternatives', { anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'string', nullable: true }],
    [
      'oneOf',
      { oneOf: [{ const: 'a' }, { type: 'integer' }] },
      { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'integer' }] },
    ],
    [
      'what stands beside alternatives',
      {
        type: 'object',
        properties: { a: { type: 'string' } },
        anyOf: [{ required: ['a'] }, { properties: { b: { type: 'string' } } }],
      },
      {
        anyOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
        ],
      },
    ],
    ['const', { const: 'a' }, { type: 'string', enum: ['a'] }],
    ['an enumeration with null', { enum: ['a', null] }, { type: 'string', enum: ['a'], nullable: true }],
    [
      'allOf',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { type: 'integer' } }, required: ['b'] },
        ],
      },
      { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a', 'b'] },
    ],
    [
      'bounds of integers',
      { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 9 },
      { type: 'integer', minimum: 1, maximum: 8 },
    ],
    [
      'an array of anything',
      { type: 'array', items: { type: 'string' }, uniqueItems: false },
      { type: 'array', items: { type: 'string' } },
    ],
    [
      'a type that goes without saying',
      { properties: { a: { minLength: 1 } } },
      { type: 'object', properties: { a: { type: 'string', minLength: 1 } } },
    ],
    [
      'what is required but not there',
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'b'] },
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    ],
    ['names and comments', { $schema: 's', $id: 'i', $comment: 'c', title: 'T', type: 'string' }, { type: 'string' }],
  ])('a Gemini schema expresses %s in its own keywords', (_name, schema, expected) => {
    expect(cleanSchema(schema)).toEqual(expected);
  });
});

describe('keywords that the Gemini subset lacks', () => {
  it.each<[JsonObject, string]>([
    [{ type: 'string', format: 'uri' }, 'format: uri'],
    [{ type: 'string', default: 'a' }, 'default: "a"'],
    [{ type: 'integer', enum: [1, 2] }, 'one of 1, 2'],
    [{ type: 'string', enum: ['', 'a'] }, 'one of "", "a"'],
    [{ type: 'number', exclusiveMinimum: 0.5 }, 'more than 0.5'],
    [{ type: 'number', multipleOf: 5 }, 'a multiple of 5'],
    [{ type: 'array', items: {}, uniqueItems: true }, 'no entry twice'],
    [{ type: 'array', prefixItems: [{ type: 'string' }] }, 'entries in this order: {"type":"string"}'],
    [
      { type: 'object', properties: {}, additionalProperties: { type: 'string' } },
      'other members must match {"type":"string"}',
    ],
    [{ type: 'string', not: { const: 'a' } }, 'must not match {"const":"a"}'],
    [{ type: 'null' }, 'always null'],
    [{}, 'any JSON value'],
  ])('a rule that the Gemini subset lacks goes into the description: %j', (schema, words) => {
    expect(cleanSchema(schema)['description']).toBe(words);
    expect(cleanSchema({ ...schema, description: 'Before.' })['description']).toBe(`Before.\n${words}`);
  });
});
const nested = (inner: JsonObject): JsonObject =>
  Array.from({ length: 60 }).reduce<JsonObject>((schema) => ({ allOf: [{ type: 'array', items: schema }] }), inner);

describe('references in schemas for Gemini', () => {
  const $defs = {
    'A/b': { type: 'string', description: 'An A.' },
    Node: { type: 'object', properties: { value: { $ref: '#/$defs/A~1b' }, next: { $ref: '#/$defs/Node' } } },
  };

  it('references in a Gemini schema are replaced by their targets', () => {
    const schema = { type: 'object', properties: { a: { $ref: '#/$defs/A~1b', description: 'This one.' } }, $defs };
    expect(cleanSchema(schema)['properties']).toEqual({ a: { type: 'string', description: 'This one.\nAn A.' } });
    const optional = { anyOf: [{ $ref: '#/$defs/A~1b' }, { type: 'null' }], $defs };
    expect(cleanSchema(optional)).toEqual({ type: 'string', nullable: true, description: 'An A.' });
    const all = { allOf: [{ $ref: '#/$defs/A~1b' }], minLength: 1, $defs };
    expect(cleanSchema(all)).toEqual({ type: 'string', minLength: 1, description: 'An A.' });
  });

  it('recursive references in a Gemini schema end', () => {
    const cleaned = cleanSchema({ $ref: '#/$defs/Node', $defs });
    expect(faultsOf(cleaned)).toEqual([]);
    expect(cleaned['properties']).toMatchObject({ next: { description: expect.stringContaining('Node') } });
    expect(faultsOf(cleanSchema({ $ref: '#' }))).toEqual([]);
    expect(faultsOf(cleanSchema({ allOf: [{ $ref: '#' }] }))).toEqual([]);
  });

  it('references without a target in a Gemini schema are described', () => {
    expect(cleanSchema({ $ref: '#/$defs/Gone' })['description']).toContain('Gone');
  });

  it('references in a Gemini schema do not multiply without limit', () => {
    const defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => {
        const $ref = `#/$defs/d${index + 1}`;
        return [`d${index}`, { type: 'object', properties: { a: { $ref }, b: { $ref } } }];
      }),
    );
    expect(JSON.stringify(cleanSchema({ $ref: '#/$defs/d0', $defs: defs })).length).toBeLessThan(1_000_000);
  });

  it('a Gemini schema nests no deeper than the stack allows', () => {
    const defs = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`d${index}`, nested({ $ref: `#/$defs/d${index + 1}` })]),
    );
    expect(faultsOf(cleanSchema({ $ref: '#/$defs/d0', $defs: defs }))).toEqual([]);
  });
});

function notesOf(schema: JsonObject): readonly string[] {
  const notes = new Notes();
  cleanSchema(schema, notes);
  return notes.entries;
}

describe('notes on rules that a Gemini schema no longer enforces, one of each kind', () => {
  it.each<[string, JsonObject, string]>([
    ['an enumeration of numbers', { enum: [1, 2] }, 'enum'],
    ['what is excluded', { type: 'string', not: { const: 'a' } }, 'not'],
    ['recursion', { type: 'object', properties: { next: { $ref: '#' } } }, 'recursion'],
    ['a condition', { type: 'array', uniqueItems: true }, 'uniqueItems'],
  ])('a Gemini schema that no longer enforces %s has a note', (_what, schema, kind) => {
    const twice: JsonObject = kind === 'recursion' ? schema : { type: 'object', properties: { a: schema, b: schema } };
    expect(notesOf(twice)).toEqual([`approximated ${kind} in schemas as description`]);
  });

  it.each<[string, JsonObject]>([
    ['an enumeration of texts', { enum: ['a', null] }],
    ['a default', { type: 'string', default: 'a' }],
    ['a reference', { $ref: '#/$defs/A', $defs: { A: { type: 'string' } } }],
  ])('a Gemini schema with %s has no note', (_what, schema) => {
    expect(notesOf(schema)).toEqual([]);
  });
});

const anything = fc.jsonValue({ maxDepth: 1 });
const messy = fc.letrec<{ schema: JsonObject }>((tie) => {
  const schema = tie('schema');
  const members = {
    type: fc.oneof(
      fc.constantFrom('string', 'integer', 'array', 'object', 'null', 'ARRAY'),
      fc.constant(['string', 'null']),
      anything,
    ),
    properties: fc.oneof(fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), schema, { maxKeys: 2 }), anything),
    items: fc.oneof(schema, fc.array(schema, { maxLength: 2 }), anything),
    required: fc.oneof(fc.array(fc.constantFrom('a', 'b')), anything),
    anyOf: fc.oneof(fc.array(schema, { maxLength: 2 }), anything),
    oneOf: fc.oneof(fc.array(schema, { maxLength: 2 }), anything),
    allOf: fc.oneof(fc.array(schema, { maxLength: 2 }), anything),
    $ref: fc.oneof(fc.constantFrom('#', '#/properties/a', '#/items', '#/allOf/0', '#/%'), anything),
    enum: fc.oneof(fc.array(fc.constantFrom('a', '', 1, null)), anything),
    const: anything,
    format: anything,
    exclusiveMinimum: anything,
    not: anything,
    description: fc.string(),
  };
  const some = fc.record(members, { requiredKeys: [] });
  return { schema: fc.oneof({ depthSize: 'xsmall' }, fc.constant({}), some) as fc.Arbitrary<JsonObject> };
}).schema;

/** Schemas that a validator takes, and that say something about values like those of `sample`. */
const sound = fc.letrec<{ schema: JsonObject }>((tie) => {
  const schema = tie('schema');
  const plain = fc.constantFrom<JsonObject>(
    { type: 'string' },
    { type: ['string', 'null'] },
    { type: ['integer', 'string'] },
    { type: 'integer', exclusiveMinimum: 0 },
    { type: 'number', maximum: 3 },
    { enum: ['a', 1, null] },
    { const: 'a' },
    { const: 1 },
    { type: 'null' },
    { type: 'boolean', const: true },
  );
  return {
    schema: fc.oneof(
      { depthSize: 'small' },
      plain,
      fc.record({ type: fc.constant('array'), items: schema }),
      fc.record({
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b'), schema, { maxKeys: 2 }),
        required: fc.uniqueArray(fc.constantFrom('a', 'b')),
      }),
      fc.record({ anyOf: fc.array(schema, { minLength: 1, maxLength: 3 }) }),
      fc.record({ allOf: fc.array(schema, { minLength: 1, maxLength: 2 }) }),
    ) as fc.Arbitrary<JsonObject>,
  };
}).schema;
const sample = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<JsonValue>('a', 'b', 0, 1, 2.5, null, true),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('value'), { maxKeys: 2 }),
  ) as fc.Arbitrary<JsonValue>,
})).value;

describe('cleaning arbitrary schemas for Gemini', () => {
  it('any schema becomes one in the Gemini subset', () => {
    fc.assert(
      fc.property(messy, (schema) => {
        expect(faultsOf(cleanSchema(schema))).toEqual([]);
      }),
      runs(60),
    );
  });

  it('a clean Gemini schema stays unchanged', () => {
    fc.assert(
      fc.property(messy, (schema) => {
        const cleaned = cleanSchema(schema);
        expect(cleanSchema(cleaned)).toEqual(cleaned);
      }),
      runs(60),
    );
  });

  it('a clean Gemini schema accepts every value that the original accepts', () => {
    const ajv = new Ajv({ strict: false, logger: false });
    fc.assert(
      fc.property(sound, fc.array(sample, { maxLength: 8 }), (schema, values) => {
        const before = ajv.compile(schema);
        const after = ajv.compile(readSchema(cleanSchema(schema)));
        for (const value of values.filter((one) => before(one))) {
          expect(after(value), JSON.stringify({ value, cleaned: cleanSchema(schema) })).toBe(true);
        }
      }),
      runs(100),
    );
  });
});
