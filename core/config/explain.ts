import type { ErrorObject } from 'ajv';
import type { JsonSchema } from '../schema.ts';
import { suggest } from './mistake.ts';
import type { YamlPath } from './section.ts';

export interface Explained {
  readonly path: YamlPath;
  readonly wrong: string;
  readonly right: string;
  /** The key is at fault, not its value. */
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

/** Turns ajv's errors into messages. Errors of alternatives that were not meant are left out. */
export function explainErrors(errors: readonly ErrorObject[]): Explained[] {
  return withoutOtherBranches(errors).map(explain);
}

/**
 * Keeps, of several alternatives, only the one with the type of the value: the author of a map, where a string or a map is
 * allowed, needs the errors of the map.
 */
export function withoutOtherBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  // The violated rule of a name is reported with the name.
  let kept = errors.filter(({ propertyName }) => propertyName === undefined);
  for (const choice of errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')) {
    const branches = choice.schema as readonly { readonly type?: string }[];
    const meant = branches.findIndex(({ type }) => type === typeOf(choice.data));
    const isInside = (error: ErrorObject) =>
      error !== choice &&
      `${error.instancePath}/`.startsWith(`${choice.instancePath}/`) &&
      error.schemaPath.startsWith(`${choice.schemaPath}/`);
    kept = kept.filter((error) => {
      if (error === choice) return meant === -1;
      return !isInside(error) || (meant !== -1 && error.schemaPath.startsWith(`${choice.schemaPath}/${meant}/`));
    });
  }
  return kept;
}

function explain(error: ErrorObject): Explained {
  const path = parsePointer(error.instancePath);
  const [wrong, right, inside] = describe(error);
  return {
    path: inside === undefined ? path : [...path, inside],
    wrong,
    right,
    atKey: error.keyword === 'additionalProperties' || error.keyword === 'propertyNames',
  };
}

/** What is wrong, what is expected, and the member at fault when it is not the value itself. */
function describe({ keyword, params, data, schema, parentSchema }: ErrorObject): [string, string, string?] {
  const given = show(data);
  switch (keyword) {
    case 'additionalProperties': {
      const known = Object.keys((parentSchema?.['properties'] as object | undefined) ?? {});
      const name = String(params['additionalProperty']);
      return ['is not a known key', suggest(name, known), name];
    }
    case 'propertyNames':
      return ['is not a valid name', nameRule(schema as JsonSchema), String(params['propertyName'])];
    case 'required': {
      const name = String(params['missingProperty']);
      const member = (parentSchema?.['properties'] as Record<string, { description?: string }> | undefined)?.[name];
      return ['is missing', `add it${member?.description === undefined ? '' : `: ${member.description}`}`, name];
    }
    case 'type':
      return [`is ${given}`, `must be ${typeList(schema)}`];
    case 'anyOf':
    case 'oneOf':
      return [
        `is ${given}`,
        `must be ${typeList((schema as { type?: string }[]).map(({ type }) => type ?? 'string'))}`,
      ];
    case 'enum':
      return [`is ${given}`, suggest(String(data), (schema as unknown[]).map(String))];
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
    case 'pattern': {
      const description = parentSchema?.['description'];
      return [
        `is ${given}`,
        typeof description === 'string' ? `expected: ${description}` : `must match ${String(schema)}`,
      ];
    }
    default:
      return [`is ${given}`, `must satisfy "${keyword}"`];
  }
}

function nameRule({ description, pattern }: JsonSchema): string {
  return description === undefined ? `must match ${String(pattern)}` : `expected: ${description}`;
}

function typeList(types: unknown): string {
  const names = [types].flat().map((type) => typeNames[String(type)] ?? String(type));
  return [...new Set(names)].join(' or ');
}

/** A short name of a value. */
function show(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}…` : value);
  return String(value);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** `/models/gpt-5/routes/0` → `['models', 'gpt-5', 'routes', 0]`; digits are indexes. */
export function parsePointer(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
