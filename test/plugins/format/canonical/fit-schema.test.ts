import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { fitSchema } from '../../../../plugins/format/canonical/fit-schema.ts';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';
import { toObjectSchema } from '../../../../plugins/format/canonical/object-schema.ts';
import { schemaSubsets } from '../../../../plugins/format/canonical/schema-subsets.ts';
import { runs } from '../../../support/runs.ts';

type Vendor = keyof typeof schemaSubsets;

const vendors = Object.keys(schemaSubsets) as Vendor[];

function fitted(schema: JsonObject, vendor: Vendor) {
  const notes = new Notes();
  const result = fitSchema(schema, schemaSubsets[vendor], notes);
  return { schema: result, notes: notes.entries };
}

/** The schema of a member after it went to a vendor, as one of an object. */
function memberFor(vendor: Vendor, member: JsonObject) {
  const root = { type: 'object', properties: { m: member }, required: ['m'], additionalProperties: false };
  const { schema = {}, notes } = fitted(root, vendor);
  return { member: (schema['properties'] as JsonObject)['m'], notes };
}

const described = (name: string) => `approximated ${name} in schemas as description`;

describe('rules of a schema that a vendor refuses', () => {
  it.each<[Vendor, JsonObject, string]>([
    ['anthropic', { type: 'integer', minimum: 1 }, 'minimum'],
    ['anthropic', { type: 'integer', maximum: 9 }, 'maximum'],
    ['anthropic', { type: 'number', exclusiveMinimum: 0 }, 'exclusiveMinimum'],
    ['anthropic', { type: 'number', multipleOf: 0.5 }, 'multipleOf'],
    ['anthropic', { type: 'string', minLength: 2 }, 'minLength'],
    ['anthropic', { type: 'string', maxLength: 8 }, 'maxLength'],
    ['anthropic', { type: 'string', pattern: '(?=a)b' }, 'pattern'],
    ['anthropic', { type: 'string', format: 'iri' }, 'format'],
    ['anthropic', { type: 'array', items: { type: 'string' }, minItems: 3 }, 'minItems'],
    ['anthropic', { type: 'array', items: { type: 'string' }, maxItems: 5 }, 'maxItems'],
    ['anthropic', { type: 'array', items: { type: 'string' }, uniqueItems: true }, 'uniqueItems'],
    ['openai', { type: 'array', items: { type: 'string' }, uniqueItems: true }, 'uniqueItems'],
    ['openai', { type: 'string', not: { const: 'a' } }, 'not'],
    ['openai', { type: 'string', format: 'uri' }, 'format'],
    ['gemini', { type: 'string', pattern: '^a' }, 'pattern'],
    ['gemini', { type: 'number', multipleOf: 5 }, 'multipleOf'],
    ['cerebras', { type: 'string', pattern: '^a' }, 'pattern'],
    ['cerebras', { type: 'array', items: { type: 'string' }, minItems: 1 }, 'minItems'],
  ])('a schema for %s says in its description what %j loses', (vendor, schema, name) => {
    const { [name]: value, ...others } = schema;
    const words = `{${name}: ${JSON.stringify(value)}}`;
    expect(memberFor(vendor, schema)).toEqual({ member: { ...others, description: words }, notes: [described(name)] });
    const { member } = memberFor(vendor, { ...schema, description: 'Before.' });
    expect(member).toEqual({ ...others, description: `Before.\n\n${words}` });
  });

  it.each<[Vendor, JsonObject]>([
    ['anthropic', { type: 'array', items: { type: 'string' }, minItems: 1 }],
    ['anthropic', { type: 'string', format: 'date-time', pattern: '^[a-z]+$', default: 'a', title: 'T' }],
    ['anthropic', { anyOf: [{ type: 'string', enum: ['a'] }, { const: 1 }, { type: ['integer', 'null'] }] }],
    ['anthropic', { allOf: [{ type: 'string' }, { enum: ['a', 'b'] }] }],
    ['openai', { type: 'integer', minimum: 1, exclusiveMaximum: 9, multipleOf: 2 }],
    ['openai', { type: 'string', pattern: '(?=a)b', minLength: 1, maxLength: 3, format: 'uuid' }],
    ['openai', { type: 'array', items: { type: 'string' }, minItems: 3, maxItems: 5 }],
    [
      'gemini',
      {
        oneOf: [
          { type: 'integer', minimum: 1, maximum: 5 },
          { type: 'string', enum: ['a', 'b'] },
        ],
      },
    ],
    ['gemini', { type: 'array', prefixItems: [{ type: 'string' }], minItems: 1, maxItems: 2 }],
    ['groq', { type: 'string', minLength: 2, pattern: 'a' }],
    ['cerebras', { type: 'integer', minimum: 1 }],
    ['mistral', { type: 'array', items: { type: 'string' }, uniqueItems: true, minItems: 4 }],
  ])('a schema for %s keeps %j as it is', (vendor, schema) => {
    expect(memberFor(vendor, schema)).toEqual({ member: schema, notes: [] });
  });

  it.each<Vendor>(['anthropic', 'openai', 'cerebras'])('oneOf becomes anyOf in a schema for %s', (vendor) => {
    const { member, notes } = memberFor(vendor, { oneOf: [{ type: 'string' }, { type: 'integer' }] });
    expect({ member, notes }).toEqual({
      member: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      notes: ['approximated oneOf in schemas as anyOf'],
    });
  });

  it('objects for Claude are closed, at every level, and a description of other members stays', () => {
    const inner = { type: 'object', additionalProperties: { type: 'string' } };
    const { schema, notes } = fitted({ type: 'object', properties: { a: inner }, $defs: { B: inner } }, 'anthropic');
    const closed = { ...inner, additionalProperties: false, description: '{additionalProperties: {"type":"string"}}' };
    expect(schema).toEqual({
      type: 'object',
      properties: { a: closed },
      $defs: { B: closed },
      additionalProperties: false,
    });
    expect(notes).toEqual(['approximated additionalProperties as false']);
  });

  it('a reference with other keywords becomes the only alternative', () => {
    const $defs = { A: { type: 'string' } };
    const schema = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/A', description: 'This.' } },
      additionalProperties: false,
      $defs,
    };
    const a = { anyOf: [{ $ref: '#/$defs/A' }], description: 'This.' };
    expect(fitted(schema, 'anthropic')).toEqual({ schema: { ...schema, properties: { a } }, notes: [] });
  });

  it('parts of an allOf become one schema where objects are closed', () => {
    const $defs = { A: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } };
    const schema = {
      allOf: [{ $ref: '#/$defs/A' }, { properties: { b: { type: 'integer' } }, required: ['b'] }],
      $defs,
    };
    expect(fitted(schema, 'anthropic').schema).toMatchObject({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'integer' } },
      required: ['a', 'b'],
      additionalProperties: false,
    });
  });

  it('a list of types becomes alternatives where the vendor has no lists', () => {
    const { member } = memberFor('cerebras', { type: ['string', 'null'], description: 'D', enum: ['a'] });
    expect(member).toEqual({ description: 'D', anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] });
  });

  it('entries of a tuple become alternatives', () => {
    const tuple = [{ type: 'string' }, { type: 'integer' }];
    const { member } = memberFor('anthropic', { type: 'array', prefixItems: tuple });
    expect(member).toEqual({
      type: 'array',
      items: { anyOf: tuple },
      description: `{prefixItems: ${JSON.stringify(tuple)}}`,
    });
  });

  it('a member of any type has a type where the vendor wants one', () => {
    expect(memberFor('anthropic', { properties: {} }).member).toMatchObject({ type: 'object' });
    expect(memberFor('anthropic', { minLength: 1 }).member).toMatchObject({ type: 'string' });
    expect(memberFor('anthropic', {}).member).toMatchObject({ anyOf: [{ type: 'string' }, {}, {}, {}] });
    expect(memberFor('groq', {}).member).toEqual({});
  });

  it('names that restrict nothing are left out without a note', () => {
    const { schema, notes } = fitted({ $schema: 's', $id: 'i', type: 'string', examples: ['a'] }, 'anthropic');
    expect({ schema, notes }).toEqual({ schema: { type: 'string', description: '{examples: ["a"]}' }, notes: [] });
    expect(fitted({ $schema: 's', $id: 'i', type: 'string' }, 'mistral').schema).toEqual({ type: 'string' });
  });
});

describe('schemas that a vendor cannot enforce', () => {
  const Node = { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } };

  it.each<[Vendor, boolean]>([
    ['anthropic', false],
    ['cerebras', false],
    ['openai', true],
    ['gemini', true],
  ])('a recursive schema for %s is possible: %s', (vendor, isPossible) => {
    const indirect = { type: 'object', properties: { a: { $ref: '#/$defs/Node' } }, $defs: { Node } };
    expect(fitted(indirect, vendor).schema !== undefined).toBe(isPossible);
    expect(fitted({ type: 'object', properties: { a: { $ref: '#' } } }, vendor).schema !== undefined).toBe(isPossible);
  });

  it('alternatives of which one widens are no longer exclusive', () => {
    const oneOf = [{ type: 'integer', exclusiveMinimum: 0 }, { type: 'number' }];
    const plain = { oneOf: [{ type: 'string' }, { type: 'number' }] };
    expect(fitted({ oneOf }, 'gemini').schema).toMatchObject({ anyOf: [{ type: 'integer' }, { type: 'number' }] });
    expect(fitted(plain, 'gemini').schema).toEqual(plain);
    const beside = fitted({ oneOf, anyOf: [{ type: 'number' }] }, 'gemini').schema;
    expect(beside).toMatchObject({ anyOf: [{ type: 'number' }], description: expect.stringContaining('oneOf') });
    expect(beside).not.toHaveProperty('oneOf');
  });

  it('a definition that is used twice is not recursive', () => {
    const A = { type: 'string' };
    const used = { $ref: '#/$defs/A' };
    const schema = { type: 'object', properties: { a: used, b: { type: 'array', items: used } }, $defs: { A } };
    expect(fitted(schema, 'anthropic').schema).toMatchObject({ properties: { a: used } });
  });

  it('references in one another do not multiply without limit', () => {
    const twice = { allOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/A' }], anyOf: [{ type: 'string' }] };
    const beside = {
      $ref: '#/$defs/B',
      anyOf: [{ type: 'null' }],
      properties: { b: { $ref: '#/$defs/B', anyOf: [] } },
    };
    const schema = { ...twice, properties: { b: beside }, $defs: { A: twice, B: beside } };
    for (const vendor of vendors) {
      const { schema: result = {} } = fitted(schema, vendor);
      expect(JSON.stringify(result).length).toBeLessThan(5_000_000);
    }
    expect(JSON.stringify(toObjectSchema(schema, true, new Notes())).length).toBeLessThan(5_000_000);
  });
});

function flattened(schema: JsonObject) {
  const notes = new Notes();
  return { schema: toObjectSchema(schema, true, notes), notes: notes.entries };
}

describe('the input of a tool without alternatives at its top', () => {
  it('alternatives become one object with the members of all of them', () => {
    const one = {
      type: 'object',
      properties: { kind: { const: 'a' }, x: { type: 'string' } },
      required: ['kind', 'x'],
    };
    const other = { type: 'object', properties: { kind: { const: 'b' }, y: { type: 'string' } }, required: ['kind'] };
    for (const name of ['anyOf', 'oneOf']) {
      expect(flattened({ description: 'D', [name]: [one, other] })).toEqual({
        schema: {
          type: 'object',
          description: `D\n\n{${name}: ${JSON.stringify([one, other])}}`,
          properties: {
            kind: { anyOf: [{ const: 'a' }, { const: 'b' }] },
            x: { type: 'string' },
            y: { type: 'string' },
          },
          required: ['kind'],
        },
        notes: [`approximated ${name} at the top of a tool as description`],
      });
    }
  });

  it('alternatives that only require members go into the description', () => {
    const properties = { a: { type: 'string' }, b: { type: 'string' } };
    const anyOf = [{ required: ['a'] }, { required: ['b'] }];
    expect(flattened({ type: 'object', properties, anyOf }).schema).toEqual({
      type: 'object',
      properties,
      description: `{anyOf: ${JSON.stringify(anyOf)}}`,
    });
  });

  it('a reference and an allOf at the top become one object', () => {
    const A = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    expect(flattened({ $ref: '#/$defs/A', $defs: { A } })).toEqual({ schema: { ...A, $defs: { A } }, notes: [] });
    const { schema } = flattened({ allOf: [{ $ref: '#/$defs/A' }, { properties: { b: {} } }], $defs: { A } });
    expect(schema).toMatchObject({ type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a'] });
    expect(schema).not.toHaveProperty('allOf');
  });

  it('an input without a type is an object, and one that has it stays the same', () => {
    expect(toObjectSchema({ properties: { a: {} } }, false, new Notes())).toEqual({
      type: 'object',
      properties: { a: {} },
    });
    const schema = { type: 'object', anyOf: [{}] };
    expect(toObjectSchema(schema, false, new Notes())).toBe(schema);
    expect(toObjectSchema(undefined, true, new Notes())).toEqual({ type: 'object', properties: {} });
  });
});

/** Schemas that a validator takes, and that say something about values like those of `sample`. */
const sound = fc.letrec<{ schema: JsonObject }>((tie) => {
  const schema = tie('schema');
  const plain = fc.constantFrom<JsonObject>(
    { type: 'string', minLength: 1 },
    { type: ['string', 'null'] },
    { type: 'integer', exclusiveMinimum: 0 },
    { enum: ['a', 1, null] },
    { const: 'a' },
    { not: { type: 'string' }, type: 'number' },
    { type: 'boolean', const: true },
  );
  return {
    schema: fc.oneof(
      { depthSize: 'small' },
      plain,
      fc.record({ type: fc.constant('array'), items: schema, maxItems: fc.nat(2) }),
      fc.record({
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b'), schema, { maxKeys: 2 }),
        required: fc.uniqueArray(fc.constantFrom('a', 'b')),
      }),
      fc.record({ anyOf: fc.array(schema, { minLength: 1, maxLength: 3 }) }),
      fc.record({ oneOf: fc.array(schema, { minLength: 1, maxLength: 3 }) }),
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

describe('fitting arbitrary schemas', () => {
  const ajv = new Ajv({ strict: false, logger: false });

  it.each<Vendor>(['openai', 'gemini', 'groq', 'cerebras', 'mistral'])(
    'a schema for %s accepts every value that the original accepts',
    (vendor) => {
      fc.assert(
        fc.property(sound, fc.array(sample, { maxLength: 8 }), (schema, values) => {
          const before = ajv.compile(schema);
          const after = ajv.compile(fitted(schema, vendor).schema ?? {});
          for (const value of values.filter((one) => before(one))) {
            expect(after(value), JSON.stringify({ value, schema })).toBe(true);
          }
        }),
        runs(40),
      );
    },
  );

  it.each(vendors)('a schema that fits %s stays the same', (vendor) => {
    fc.assert(
      fc.property(sound, (schema) => {
        const { schema: once = {} } = fitted(schema, vendor);
        const again = fitted(once, vendor);
        expect(again.schema ?? {}).toEqual(once);
      }),
      runs(40),
    );
  });

  it('the plain input of a tool accepts every object that an alternative without other members accepts', () => {
    const alternative = fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom('a', 'b'), sound, { maxKeys: 2 }),
      required: fc.uniqueArray(fc.constantFrom('a', 'b')),
      additionalProperties: fc.constant(false),
    });
    fc.assert(
      fc.property(
        fc.array(alternative, { minLength: 1, maxLength: 2 }),
        fc.array(sample, { maxLength: 4 }),
        (anyOf, values) => {
          const schema = { anyOf };
          const before = ajv.compile(schema);
          const after = ajv.compile(toObjectSchema(schema, true, new Notes()));
          const objects = values.filter((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
          for (const value of objects.filter((one) => before(one))) {
            expect(after(value), JSON.stringify({ value, schema })).toBe(true);
          }
        },
      ),
      runs(30),
    );
  });
});
