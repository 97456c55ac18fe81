import type { ErrorObject } from 'ajv';
import type { JsonSchema } from '#core/platform/schema.ts';
import type { YamlPath } from '../section.ts';
import { hideCredentials, canContainSecret } from './hide-secrets.ts';
import { findForeignVariable } from './interpolate.ts';
import { findLineMistake } from './line-mistake.ts';
import { findClosestName, suggest } from './mistake.ts';
import { findIntendedNumber, parseUnit } from './number-words.ts';

interface ExplainedError {
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

const urlPattern = /^\^\(?https\?:\/\/(?!\|)/; // matches patterns that accept only URLs, and possibly ''

/**
 * Converts ajv's errors to messages. Omits errors about alternatives that do not match the value's type.
 *
 * @param isHidden returns true for values that messages must not show, in addition to those of secret options
 */
export function explainErrors(
  errors: readonly ErrorObject[],
  isHidden: (path: YamlPath) => boolean = () => false,
): ExplainedError[] {
  return dropMisspelled(selectMatchingBranches(errors)).map((error) => explainError(error, isHidden));
}

/**
 * Selects the errors about the alternative that matches the value's type. If a string or a map is allowed, for example, someone who wrote a
 * map needs the errors about the map.
 */
export function selectMatchingBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  // If a name is invalid, the rule that it violates is reported together with the name.
  let remaining = errors.filter(({ propertyName }) => propertyName === undefined);
  for (const choice of errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')) {
    const branches = choice.schema as readonly JsonSchema[];
    const numberSchema = branches.find(({ type }) => type === 'integer' || type === 'number');
    const branchIndex = branches.findIndex(({ type }) => type === findType(choice.data));
    const isInside = (error: ErrorObject) =>
      error !== choice &&
      `${error.instancePath}/`.startsWith(`${choice.instancePath}/`) &&
      error.schemaPath.startsWith(`${choice.schemaPath}/`);
    remaining = remaining.filter((error) => {
      if (error === choice) return branchIndex === -1;
      return (
        !isInside(error) || (branchIndex !== -1 && error.schemaPath.startsWith(`${choice.schemaPath}/${branchIndex}/`))
      );
    });
    if (numberSchema === undefined) continue;
    remaining = remaining.map((error) =>
      error.keyword === 'enum' && isInside(error)
        ? { ...error, params: { ...error.params, number: numberSchema } }
        : error,
    );
  }
  return remaining;
}

function dropMisspelled(errors: readonly ErrorObject[]): ErrorObject[] {
  // The similar name is reported instead, as unknown.
  return errors.filter(
    ({ keyword, params, instancePath }) =>
      keyword !== 'required' ||
      !errors.some(
        (other) =>
          other.keyword === 'additionalProperties' &&
          other.instancePath === instancePath &&
          findClosestName(String(other.params['additionalProperty']), listMemberNames(other)) ===
            params['missingProperty'],
      ),
  );
}

function listMemberNames({ parentSchema }: ErrorObject): string[] {
  return Object.keys((parentSchema?.['properties'] as object | undefined) ?? {});
}

function explainError(error: ErrorObject, isHidden: (path: YamlPath) => boolean): ExplainedError {
  const path = parsePointer(error.instancePath);
  const canShow = !isHidden(path) && !canContainSecret(error.parentSchema as JsonSchema | undefined);
  const [wrong, right, member] = describeError(error, canShow);
  return {
    path: member === undefined ? path : [...path, member],
    wrong,
    right,
    atKey: error.keyword === 'additionalProperties' || error.keyword === 'propertyNames',
  };
}

function describeError(error: ErrorObject, canShow: boolean): [wrong: string, right: string, member?: string] {
  const { keyword, params, data, schema, parentSchema } = error;
  const shown = canShow ? describeValue(data) : describeKind(data);
  switch (keyword) {
    case 'additionalProperties': {
      const knownNames = listMemberNames(error);
      const name = String(params['additionalProperty']);
      return [...(findLineMistake(name) ?? (['is not a known key', suggest(name, knownNames)] as const)), name];
    }
    case 'propertyNames':
      return ['is not a valid name', explainNameRule(schema as JsonSchema), String(params['propertyName'])];
    case 'required': {
      const name = String(params['missingProperty']);
      const member = (parentSchema?.['properties'] as Record<string, { description?: string }> | undefined)?.[name];
      return ['is missing', `add it${member?.description === undefined ? '' : `: ${member.description}`}`, name];
    }
    case 'type':
      return [`is ${shown}`, explainType(error, canShow)];
    case 'anyOf':
    case 'oneOf':
      return [
        `is ${shown}`,
        `must be ${joinTypeNames((schema as { type?: string }[]).map(({ type }) => type ?? 'string'))}`,
      ];
    case 'enum':
      return [
        `is ${shown}`,
        suggest(canShow ? String(data) : '', [
          ...(schema as unknown[]).map(String),
          ...describeNumber(params['number']),
        ]),
      ];
    case 'const':
      return [`is ${shown}`, `must be ${describeValue(schema)}`];
    case 'minimum':
      return [`is ${shown}`, `must be at least ${String(schema)}`];
    case 'maximum':
      return [`is ${shown}`, `must be at most ${String(schema)}`];
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
        return [`is ${shown}`, 'must begin with https:// or http://'];
      // Uses the description without the sentence about its default.
      return [
        `is ${shown}`,
        typeof description === 'string'
          ? `expected: ${description.replace(/ Default\b.*/s, '')}`
          : `must match ${String(schema)}`,
      ];
    }
    default:
      return [`is ${shown}`, `must satisfy "${keyword}"`];
  }
}

function describeNumber(schema: JsonSchema | undefined): string[] {
  if (schema === undefined) return [];
  const { type = 'number', minimum, maximum } = schema;
  const range = minimum === undefined || maximum === undefined ? '' : ` from ${minimum} to ${maximum}`;
  return [`${typeNames[type as string] ?? 'a number'}${range}`];
}

function explainType(error: ErrorObject, canShow: boolean): string {
  const { schema, parentSchema, data } = error;
  const types = new Set([schema].flat());
  const expected = `must be ${joinTypeNames(schema)}`;
  if (types.has('array')) return `${expected}: ${explainList(data, canShow)}`;
  if (typeof data === 'number' || typeof data === 'boolean')
    return types.has('string') ? `${expected}: put it in quotes` : addExample(error, expected, types);
  if (typeof data !== 'string') return addExample(error, expected, types);
  const variable = canShow ? findForeignVariable(data) : undefined;
  if (variable !== undefined) return `${expected}: write \${${variable}} for the variable`;
  if (types.has('object')) {
    const key = listMemberNames(error).find((name) => new RegExp(`^${name}[\\s:=]`).test(data));
    if (key !== undefined) return `${expected}: write "${key}: …"`;
    return `${expected}${createExample(error)}`;
  }
  if (types.has('boolean')) return explainBoolean(data, expected, canShow);
  if (!types.has('number') && !types.has('integer')) return expected;
  const unit = parseUnit(parentSchema?.['description'] as string | undefined);
  const intended = canShow ? findIntendedNumber(data, unit, !types.has('number')) : undefined;
  const numberText = `must be a ${types.has('number') ? '' : 'whole '}number of ${unit}`;
  return `${unit === undefined ? expected : numberText}${intended === undefined ? '' : `: ${intended}`}`;
}

function addExample(error: ErrorObject, expected: string, types: ReadonlySet<unknown>): string {
  return types.has('object') ? expected + createExample(error) : expected;
}

function createExample(error: ErrorObject): string {
  const [name] = [...((error.parentSchema?.['required'] as string[] | undefined) ?? []), ...listMemberNames(error)];
  return name === undefined ? '' : `, such as { ${name}: … }`;
}

function explainList(data: unknown, canShow: boolean): string {
  if (typeof data === 'object' && data !== null) return 'begin each entry with "- "';
  if (data === null) return 'write [a, b]';
  if (!canShow) return 'put brackets around it';
  return `write [${typeof data === 'string' ? describeValue(data) : String(data)}]`;
}

function explainBoolean(text: string, expected: string, canShow: boolean): string {
  const intended = findIntendedBoolean(text);
  return intended === undefined || !canShow ? expected : `${expected}: write ${intended}, without quotes`;
}

function findIntendedBoolean(text: string): boolean | undefined {
  if (/^(true|yes|on|y)$/i.test(text)) return true;
  return /^(false|no|off|n)$/i.test(text) ? false : undefined;
}

function explainNameRule({ description, pattern }: JsonSchema): string {
  return description === undefined ? `must match ${String(pattern)}` : `expected: ${description}`;
}

function joinTypeNames(types: unknown): string {
  const names = [types].flat().map((type) => typeNames[String(type)] ?? String(type));
  return [...new Set(names)].join(' or ');
}

function describeValue(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (typeof value !== 'string') return String(value);
  const text = hideCredentials(value);
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text);
}

function describeKind(value: unknown): string {
  if (typeof value === 'string') return 'a string';
  return typeof value === 'number' ? 'a number' : describeValue(value);
}

function findType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** Parses a JSON pointer: `/models/gpt-6-sol/routes/0` becomes `['models', 'gpt-6-sol', 'routes', 0]`. Digits become indexes. */
export function parsePointer(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
