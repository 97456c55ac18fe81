import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseDocument } from '#core/config/file/document.ts';
import { assemble } from '#core/extension/assembly.ts';
import type { Registry } from '#core/extension/registry.ts';
import { composeSchema, validate } from '#core/extension/validation/validate-config.ts';
import type { JsonSchema } from '#core/platform/schema.ts';
import { silentLog } from '../../../support/database.ts';

const file = join(import.meta.dirname, '..', '..', '..', '..', 'gateway.yaml');

let registry: Registry;
let schema: ReturnType<typeof composeSchema>;
let text: string;
let accepts: (value: unknown) => unknown;
beforeAll(async () => {
  ({ registry } = await assemble(undefined, silentLog, () => {
    throw new Error('nothing is served here');
  }));
  schema = composeSchema(registry);
  // As `config/validator.ts` does: a second of the processor is spent on optimizing it otherwise.
  accepts = new Ajv({ strict: false, code: { optimize: false } }).compile(schema);
  text = await readFile(file, 'utf8');
});

const complete = { pipeline: ['auth'], upstreams: {}, models: {} };

/** Paths of properties that an editor could say nothing about. */
function undescribed(part: JsonSchema, path: string): string[] {
  const properties = Object.entries(part.properties ?? {});
  const inner: [string, JsonSchema][] = [
    ...properties.map(([name, property]): [string, JsonSchema] => [`${path}.${name}`, property]),
    ...[...(part.anyOf ?? []), ...(part.oneOf ?? [])].map((option): [string, JsonSchema] => [path, option]),
  ];
  if (part.items !== undefined) inner.push([`${path}[]`, part.items]);
  if (typeof part.additionalProperties === 'object') inner.push([`${path}.*`, part.additionalProperties]);
  const bare = properties.filter(([, { description }]) => description === undefined || description === '');
  return [...bare.map(([name]) => `${path}.${name}`), ...inner.flatMap(([at, one]) => undescribed(one, at))];
}

describe('the schema of gateway.yaml', () => {
  it('is a draft-07 schema', () => {
    const ajv = new Ajv();
    expect([schema.$schema, ajv.validateSchema(schema), ajv.errors]).toEqual([
      'http://json-schema.org/draft-07/schema#',
      true,
      null,
    ]);
  });

  it('accepts the included gateway.yaml', () => {
    expect(accepts(parse(text))).toBe(true);
  });

  it.each([
    ['a number', { listen: { port: '${PORT}' } }],
    ['a text of a certain form', { service: { base_url: '${URL:-http://x.test}' } }],
    ['one of several formats', { upstreams: { one: { format: ['${FORMAT}'] } } }],
    ['an option of a stage', { pipeline: [{ 'rate-limit': { limit: '${LIMIT}' } }] }],
  ])('accepts a variable instead of %s', (_name, part) => {
    expect(accepts({ ...complete, ...part })).toBe(true);
  });

  it.each([
    ['service', { service: null }],
    ['plugins', { plugins: null }],
    ['currency', { currency: null }],
    ['plans', { plans: null }],
    ['the options of a stage', { pipeline: [{ auth: null }] }],
  ])('accepts an empty value where there are defaults: %s', (_name, part) => {
    expect(accepts({ ...complete, ...part })).toBe(true);
  });

  it('has the names of the vendors', () => {
    const entry = schema.properties?.['upstreams']?.additionalProperties as JsonSchema;
    expect(entry.properties?.['vendor']?.anyOf?.[0]?.enum).toEqual([...registry.vendors.keys()]);
  });

  it('describes every property', () => {
    expect(undescribed(schema, '')).toEqual([]);
  });

  it('requires pipeline, upstreams and models only', () => {
    expect(schema.required?.toSorted()).toEqual(['models', 'pipeline', 'upstreams']);
  });

  it('has every stage, with options and by name alone', () => {
    const names = [...registry.stages.keys()];
    const items = schema.properties?.['pipeline']?.items?.anyOf;
    expect([items?.[0]?.enum, Object.keys(items?.[1]?.properties ?? {})]).toEqual([names, names]);
  });

  it.each([
    ['an unknown section', { modles: {} }],
    ['an unknown stage', { pipeline: ['auht'] }],
    ['two stages in one entry', { pipeline: [{ auth: {}, log: {} }] }],
    ['no stage at all', { pipeline: [] }],
    ['an unknown option of a stage', { pipeline: [{ auth: { nothing: 1 } }] }],
    ['an unknown key of an upstream', { upstreams: { one: { vndor: 'openai' } } }],
    ['a model without routes', { models: { test: {} } }],
    ['a text for a port', { listen: { port: 'http' } }],
    ['a section without defaults that is left empty', { models: null }],
    ['a misspelt vendor', { upstreams: { one: { vendor: 'opnai' } } }],
    ['a misspelt format', { upstreams: { one: { format: 'chatt' } } }],
    ['a port out of range', { listen: { port: 65_536 } }],
  ])('refuses %s', (_name, part) => {
    expect(accepts({ ...complete, ...part })).toBe(false);
  });
});

describe('the included gateway.yaml', () => {
  it('is valid without any variable', () => {
    expect(validate(parseDocument(text, file, {}), registry).stages.length).toBeGreaterThan(0);
  });

  it('is refused in production, because of the demo', () => {
    expect(() => validate(parseDocument(text, file, { NODE_ENV: 'production' }), registry)).toThrow(
      'upstreams.demo: is a demo upstream, which is not allowed with NODE_ENV=production; remove it and its routes',
    );
  });
});
