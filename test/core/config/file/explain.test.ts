import { describe, expect, it } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import { explainErrors } from '#core/config/file/explain.ts';
import { ConfigError, formatMistake, suggest } from '#core/config/file/mistake.ts';
import { Validator } from '#core/config/file/validator.ts';
import type { JsonSchema } from '#core/platform/schema.ts';

/** What is wrong with a value of a plugin's section, whose schema may use what core's own do not. */
function explain(value: string, schema: JsonSchema): string[] {
  const document = parseDocument(`ours: ${value}`, 'gateway.yaml', {});
  const validator = new Validator(document);
  validator.validate(document.values()['ours'], schema, ['ours']);
  return validator.mistakes.map((mistake) => formatMistake(mistake).replace(/^gateway\.yaml:1:\d+ /, ''));
}

const point: JsonSchema = {
  type: 'object',
  properties: { x: { type: 'integer' }, y: { type: 'integer' } },
  required: ['x'],
  additionalProperties: false,
};

describe('a mistake in a section of a plugin', () => {
  it.each<[string, string, JsonSchema, string]>([
    ['a value that is not the only one', '2', { const: 1 }, 'ours: is 2; must be 1'],
    ['no value', '', { type: 'string' }, 'ours: is empty; must be a string'],
    ['one of two types', '[]', { type: ['string', 'null'] }, 'ours: is a list; must be a string or null'],
    ['a short text', 'ab', { type: 'string', minLength: 3 }, 'ours: is too short; needs at least 3'],
    ['a long list', '[1, 2]', { type: 'array', maxItems: 1 }, 'ours: is too long; must have at most 1'],
    ['a large map', '{ a: 1, b: 2 }', { type: 'object', maxProperties: 1 }, 'ours: is too long; must have at most 1'],
    ['an entry twice', '[1, 1]', { type: 'array', uniqueItems: true }, 'ours: has a duplicate entry; keep one of them'],
    ['a form without a description', 'b', { type: 'string', pattern: '^a' }, 'ours: is "b"; must match ^a'],
    ['a required key without a description', '{}', point, 'ours.x: is missing; add it'],
    [
      'a duration whose unit comes late in its description',
      '2h',
      { type: 'integer', description: 'Grace period: how many seconds model calls still work.' },
      'ours: is "2h"; must be a whole number of seconds: 7200',
    ],
    [
      'a duration with two units in its description, of which the first counts',
      '2d',
      { type: 'integer', description: 'Days of 24 hours.' },
      'ours: is "2d"; must be a whole number of days: 2',
    ],
    [
      'a name of a certain form',
      '{ B: 1 }',
      { type: 'object', propertyNames: { pattern: '^[a-z]$' } },
      'ours.B: is not a valid name; must match ^[a-z]$',
    ],
    [
      'a map where a text or a map may stand',
      '{ z: 1, x: 1 }',
      { anyOf: [{ type: 'string' }, point] },
      'ours.z: is not a known key; use one of: x, y',
    ],
    [
      'a choice of one out of two',
      '[]',
      { oneOf: [{ type: 'string' }, point] },
      'ours: is a list; must be a string or a map',
    ],
    ['a text that is long', 'x'.repeat(80), { type: 'integer' }, `ours: is "${'x'.repeat(57)}…"; must be an integer`],
    [
      'a key with a slash',
      '{ a/b: { x: q } }',
      { type: 'object', additionalProperties: point },
      'ours.a/b.x: is "q"; must be an integer',
    ],
  ])('is reported for %s', (_name, value, schema, line) => {
    expect(explain(value, schema)).toEqual([line]);
  });

  it('is reported even for a keyword without a message', () => {
    const error = { keyword: 'multipleOf', instancePath: '/value', schemaPath: '#', params: {}, data: 5 };
    expect(explainErrors([error])).toEqual([
      { path: ['value'], wrong: 'is 5', right: 'must satisfy "multipleOf"', atKey: false },
    ]);
  });
});

const at = (line: number, column: number, wrong: string) => ({
  file: 'gateway.yaml',
  line,
  column,
  path: ['models', 'a', 'routes', 0],
  wrong,
  right: 'right',
});

describe('a list of mistakes', () => {
  it('is in the order of the file', () => {
    const { message } = new ConfigError([at(10, 1, 'third'), at(2, 5, 'second'), at(2, 1, 'first')]);
    expect(message.match(/first|second|third/g)).toEqual(['first', 'second', 'third']);
  });

  it('has each line once', () => {
    expect(new ConfigError([at(1, 1, 'wrong'), at(1, 1, 'wrong')]).message).toBe(
      'gateway.yaml:1:1 models.a.routes[0]: wrong; right',
    );
  });
});

describe('a suggestion', () => {
  it.each([
    ['the nearest name', 'gtp-5', ['gpt-4', 'gpt-5'], 'did you mean "gpt-5"?'],
    ['every name when none is near', 'mistral', ['gpt-4', 'gpt-5'], 'use one of: gpt-4, gpt-5'],
    ['every name when a short one shares nothing with it', 'o3', ['q1', 'q2'], 'use one of: q1, q2'],
    ['the nearest of short names', 'o3', ['q1', 'o1'], 'did you mean "o1"?'],
    ['that there is none', 'mistral', [], 'there are none'],
  ])('is %s', (_name, name, names, right) => {
    expect(suggest(name, names)).toBe(right);
  });
});
