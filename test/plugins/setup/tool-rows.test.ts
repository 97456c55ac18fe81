import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { array, boolean, type JsonSchema, object, string } from '#core/platform/schema.ts';
import { tools } from '../../../plugins/setup/tools.ts';

/** What the compiler would check if tools.yaml were code: the members of a row and their types. */
const strings = array({ items: string() });
const texts: JsonSchema = { type: 'object', additionalProperties: string() };
const place = object(['path'], { path: string(), preferred: string(), macos: string(), windows: string() });
const places = array({ items: place });
const command = array({ items: { anyOf: [string(), texts, { type: 'object', additionalProperties: strings }] } });
const one = (...words: string[]): JsonSchema => ({ enum: words });

const steps = array({
  items: {
    oneOf: [
      object(['kind', 'place', 'format', 'settings'], {
        kind: one('file'),
        place,
        format: one('json', 'toml', 'yaml'),
        settings: { type: ['object', 'array'] },
        isDedicated: boolean(),
        identity: strings,
        initial: strings,
        elsewhere: places,
        dialect: one('plain', 'comments'),
        at: one('start'),
        note: string(),
      }),
      object(['kind', 'place', 'format', 'lines'], {
        kind: one('lines'),
        place,
        format: one('block', 'text'),
        lines: strings,
      }),
      object(['kind'], { kind: one('environment'), variables: texts, key: string(), note: string() }),
      object(['kind', 'commands'], {
        kind: one('command'),
        commands: array({ items: { anyOf: [command, texts, { type: 'object' }] } }),
        place,
      }),
      object(['kind', 'where', 'fields'], {
        kind: one('form'),
        where: string(),
        fields: array({ items: object(['label', 'value'], { label: string(), value: string() }) }),
      }),
      object(['kind', 'sdk'], { kind: one('sample'), sdk: one('openai', 'anthropic', 'gemini') }),
      object(['kind', 'samples'], {
        kind: one('sample'),
        samples: array({ items: object(['title', 'code'], { title: string(), install: string(), code: string() }) }),
      }),
    ],
  },
});

const installed = object(['package', 'tried'], {
  package: string(),
  tried: string({ pattern: String.raw`^\d{4}-\d\d-\d\d$` }),
  takesNoTask: { const: true },
  workspace: string(),
  allow: strings,
  offline: texts,
  keeps: strings,
});

const row = object(['id', 'group', 'name', 'formats', 'steps'], {
  id: string(),
  group: one('agents', 'editors', 'libraries'),
  name: string(),
  nameText: string(),
  formats: array({ items: string(), minItems: 1 }),
  seen: string(),
  npm: installed,
  pypi: installed,
  note: object(['en', 'id'], { en: string(), id: string() }),
  texts: object(['en', 'id'], { en: texts, id: texts }),
  script: object(['commands', 'folders'], {
    commands: strings,
    folders: strings,
    isOnRequest: { const: true },
    places: array({ items: object(['variable', 'folder'], { variable: string(), folder: string() }) }),
    caches: places,
    trial: strings,
    note: string(),
    steps,
  }),
  steps,
});

const validate = new Ajv({ strict: false }).compile(row);

it.each(tools)('the row of $name has only members that tool.ts describes', (tool) => {
  validate(tool);
  expect(validate.errors ?? []).toEqual([]);
});

it('a row with a member of another name is refused', () => {
  expect(validate({ ...tools[0], script: { command: ['x'], folders: [] } })).toBe(false);
});
