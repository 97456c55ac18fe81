import { expect, it } from 'vitest';
import { readDefaults } from '#core/config/file/validator.ts';
import { fillIn } from '#core/extension/testing/fill-in.ts';
import type { JsonSchema } from '#core/platform/schema.ts';
import { registeredHere } from '../../../support/registered.ts';

it('the default of every section is valid, and has the defaults of its members as ajv fills them in', async () => {
  const { sections } = await registeredHere();
  const withDefault = [...sections.values()].filter(({ schema }) => schema.default !== undefined);
  expect(withDefault.length).toBeGreaterThan(30);
  for (const { name, schema } of withDefault) {
    const { value, validPart } = readDefaults(schema);
    expect({ name, value }).toEqual({ name, value: fillIn(schema.default, schema, name) });
    expect(validPart.value).toBe(value);
  }
});

it('a default is completed in lists, in maps and in members that have a default themselves', () => {
  const limit = { type: 'integer', default: 3 } as const;
  const inner = { type: 'object', properties: { limit } } as const;
  const schema: JsonSchema = {
    type: 'object',
    default: { list: [{}, { limit: 1 }], map: { one: {} }, plain: { two: 2 } },
    properties: {
      list: { type: 'array', items: inner },
      map: { type: 'object', additionalProperties: inner },
      plain: { type: 'object', additionalProperties: true },
      absent: { ...inner, default: {} },
    },
  };
  const { value } = readDefaults(schema);
  expect(value).toEqual(fillIn(schema.default, schema, 'section'));
  expect(value).toEqual({
    list: [{ limit: 3 }, { limit: 1 }],
    map: { one: { limit: 3 } },
    plain: { two: 2 },
    absent: { limit: 3 },
  });
});
