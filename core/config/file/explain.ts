import type { ErrorObject } from 'ajv';
import type { JsonSchema } from '#core/platform/schema.ts';
import { hideCredentials, mayHoldSecret } from './hide-secrets.ts';
import { foreignVariable } from './interpolate.ts';
import { lineMistake } from './line-mistake.ts';
import { closestName, suggest } from './mistake.ts';
import { intendedNumber, unitOf } from './number-words.ts';
import type { YamlPath } from '../section.ts';

interface Explained {
  readonly path: YamlPath;
  readonly wrong: string;
  readonly right: string;
  readonly atKey: boolean;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  null: 'null',
  array: 'a list',
  object: 'a map',
};

/** Matches patterns that accept only URLs, and perhaps the empty string. */
const urlPattern = /^\^\(?https\?:\/\/(?!\|)/;

/**
 * Turns ajv's errors into messages. Errors of alternatives that do not match the type of the value are left out.
 *
 * @param isHidden true for values that no message may show, in addition to those of secret options
 */
export function explainErrors(
  errors: readonly ErrorObject[],
  isHidden: (path: YamlPath) => boolean = () => false,
): Explained[] {
  return withoutMisspelled(withoutOtherBranches(errors)).map((error) => explain(error, isHidden));
}

/**
 * Keeps only the errors of the alternative with the type of the value: if a string or a map is allowed, the author of a map needs
 * the errors of the map.
 */
export function withoutOtherBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  // A violated rule of a name is reported together with the name.
  let kept = errors.filter(({ propertyName }) => propertyName === undefined);
  for (const choice of errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')) {
    const branches = choice.schema as readonly JsonSchema[];
    const number = branches.find(({ type }) => type === 'integer' || type === 'number');
    const meant = branches.findIndex(({ type }) => type === typeOf(choice.data));
    const isInside = (error: ErrorObject) =>
      error !== choice &&
      `${error.instancePath}/`.startsWith(`${choice.instancePath}/`) &&
      error.schemaPath.startsWith(`${choice.schemaPath}/`);
    kept = kept.filter((error) => {
      if (error === choice) return meant === -1;
      return !isInside(error) || (meant !== -1 && error.schemaPath.startsWith(`${choice.schemaPath}/${meant}/`));
    });
    if (number === undefined) continue;
    kept = kept.map((error) =>
      error.keyword === 'enum' && isInside(error) ? { ...error, params: { ...error.params, number } } : error,
    );
  }
  return kept;
}

/** Drops missing members that exist under a similar name: that is reported separately. */
function withoutMisspelled(errors: readonly ErrorObject[]): ErrorObject[] {
  return errors.filter(
    ({ keyword, params, instancePath }) =>
      keyword !== 'required' ||
      !errors.some(
        (other) =>
          other.keyword === 'additionalProperties' &&
          other.instancePath === instancePath &&
          closestName(String(other.params['additionalProperty']), namesIn(other)) === params['missingProperty'],
      ),
  );
}

function namesIn({ parentSchema }: ErrorObject): string[] {
  return Object.keys((parentSchema?.['properties'] as object | undefined) ?? {});
}

function explain(error: ErrorObject, isHidden: (path: YamlPath) => boolean): Explained {
  const path = parsePointer(error.instancePath);
  const mayShow = !isHidden(path) && !mayHoldSecret(error.parentSchema as JsonSchema | undefined);
  const [wrong, right, inside] = describe(error, mayShow);
  return {
    path: inside === undefined ? path : [...path, inside],
    wrong,
    right,
    atKey: error.keyword === 'additionalProperties' || error.keyword === 'propertyNames',
  };
}

/** [wrong, right], and the wrong member if it is not the value itself. */
function describe(error: ErrorObject, mayShow: boolean): [string, string, string?] {
  const { keyword, params, data, schema, parentSchema } = error;
  const given = mayShow ? show(data) : kindOf(data);
  switch (keyword) {
    case 'additionalProperties': {
      const known = namesIn(error);
      const name = String(params['additionalProperty']);
      return [...(lineMistake(name) ?? (['is not a known key', suggest(name, known)] as const)), name];
    }
    case 'propertyNames':
      return ['is not a valid name', nameRule(schema as JsonSchema), String(params['propertyName'])];
    case 'required': {
      const name = String(params['missingProperty']);
      const member = (parentSchema?.['properties'] as Record<string, { description?: string }> | undefined)?.[name];
      return ['is missing', `add it${member?.description === undefined ? '' : `: ${member.description}`}`, name];
    }
    case 'type':
      return [`is ${given}`, rightType(error, mayShow)];
    case 'anyOf':
    case 'oneOf':
      return [
        `is ${given}`,
        `must be ${typeList((schema as { type?: string }[]).map(({ type }) => type ?? 'string'))}`,
      ];
    case 'enum':
      return [
        `is ${given}`,
        suggest(mayShow ? String(data) : '', [...(schema as unknown[]).map(String), ...numberNames(params['number'])]),
      ];
    case 'const':
      return [`is ${given}`, `must be ${show(schema)}`];
    case 'minimum':
      return [`is ${given}`, `must be at least ${String(schema)}`];
    case 'maximum':
      return [`is ${given}`, `must be at most ${String(schema)}`];
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return [schema === 1 ? 'is empty' : 'is too short', `needs at least ${String(schema)}`];
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return ['is too long', `must have at most ${String(schema)}`];
    case 'uniqueItems':
      return ['has a duplicate entry', 'keep one of them'];
    case 'format':
    case 'pattern': {
      const description = parentSchema?.['description'];
      if (urlPattern.test(String(schema)) && !/^https?:\/\//i.test(String(data)))
        return [`is ${given}`, 'must begin with https:// or http://'];
      // Stating that the value is empty would not help.
      return [
        `is ${given}`,
        typeof description === 'string'
          ? `expected: ${description.replace(/ Default\b.*/s, '')}`
          : `must match ${String(schema)}`,
      ];
    }
    default:
      return [`is ${given}`, `must satisfy "${keyword}"`];
  }
}

function numberNames(schema: JsonSchema | undefined): string[] {
  if (schema === undefined) return [];
  const { type = 'number', minimum, maximum } = schema;
  const span = minimum === undefined || maximum === undefined ? '' : ` from ${minimum} to ${maximum}`;
  return [`${typeNames[type as string] ?? 'a number'}${span}`];
}

function rightType(error: ErrorObject, mayShow: boolean): string {
  const { schema, parentSchema, data } = error;
  const types = new Set([schema].flat());
  const expected = `must be ${typeList(schema)}`;
  if (types.has('array')) return `${expected}: ${asList(data, mayShow)}`;
  if (typeof data === 'number' || typeof data === 'boolean')
    return types.has('string') ? `${expected}: put it in quotes` : withExample(error, expected, types);
  if (typeof data !== 'string') return withExample(error, expected, types);
  const variable = mayShow ? foreignVariable(data) : undefined;
  if (variable !== undefined) return `${expected}: write \${${variable}} for the variable`;
  if (types.has('object')) {
    const key = namesIn(error).find((name) => new RegExp(`^${name}[\\s:=]`).test(data));
    if (key !== undefined) return `${expected}: write "${key}: …"`;
    return `${expected}${exampleOf(error)}`;
  }
  if (types.has('boolean')) return booleanMeant(data, expected, mayShow);
  if (!types.has('number') && !types.has('integer')) return expected;
  const unit = unitOf(parentSchema?.['description'] as string | undefined);
  const meant = mayShow ? intendedNumber(data, unit, !types.has('number')) : undefined;
  const number = `must be a ${types.has('number') ? '' : 'whole '}number of ${unit}`;
  return `${unit === undefined ? expected : number}${meant === undefined ? '' : `: ${meant}`}`;
}

function withExample(error: ErrorObject, expected: string, types: ReadonlySet<unknown>): string {
  return types.has('object') ? expected + exampleOf(error) : expected;
}

function exampleOf(error: ErrorObject): string {
  const [name] = [...((error.parentSchema?.['required'] as string[] | undefined) ?? []), ...namesIn(error)];
  return name === undefined ? '' : `, such as { ${name}: … }`;
}

function asList(data: unknown, mayShow: boolean): string {
  if (typeof data === 'object' && data !== null) return 'begin each entry with "- "';
  if (data === null) return 'write [a, b]';
  if (!mayShow) return 'put brackets around it';
  return `write [${typeof data === 'string' ? show(data) : String(data)}]`;
}

function booleanMeant(text: string, expected: string, mayShow: boolean): string {
  const meant = /^(true|yes|on|y)$/i.test(text) ? 'true' : /^(false|no|off|n)$/i.test(text) ? 'false' : undefined;
  return meant === undefined || !mayShow ? expected : `${expected}: write ${meant}, without quotes`;
}

function nameRule({ description, pattern }: JsonSchema): string {
  return description === undefined ? `must match ${String(pattern)}` : `expected: ${description}`;
}

function typeList(types: unknown): string {
  const names = [types].flat().map((type) => typeNames[String(type)] ?? String(type));
  return [...new Set(names)].join(' or ');
}

function show(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (typeof value !== 'string') return String(value);
  const text = hideCredentials(value);
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text);
}

function kindOf(value: unknown): string {
  return typeof value === 'string' ? 'a string' : typeof value === 'number' ? 'a number' : show(value);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** Parses `/models/gpt-6-sol/routes/0` → `['models', 'gpt-6-sol', 'routes', 0]`; digits are indexes. */
export function parsePointer(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
