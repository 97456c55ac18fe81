import { invalid, isMissing } from '../../wire/read.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { JsonSchema } from '#core/platform/schema.ts';

/** A mistake in a value: where in it, such as `[2]`, and what it must be. */
interface Fault {
  readonly at: string;
  readonly right: string;
}
/** Returns what a value, or a part of it, must be; undefined when it is valid. */
type Check = (value: JsonValue) => string | Fault | undefined;
/** A check with the same rule in the words of JSON Schema, for the documentation of the API. */
type Rule = Check & { readonly schema: JsonSchema };
interface Parameter {
  readonly name: string;
  /** Its place among the rules: the first mistake in this order is reported. */
  readonly order: number;
  /** Below the top level, the spellings of each member that leads to it. */
  readonly inner: readonly (readonly string[])[];
  readonly rule: Rule;
}

/** Looked up by the members of a body, which are fewer than the rules. */
export interface ParameterRules {
  readonly all: readonly Parameter[];
  readonly byMember: ReadonlyMap<string, readonly Parameter[]>;
  /** The outermost members by each of their spellings, the model included. */
  readonly documented: ReadonlyMap<string, string>;
  /** The same spellings without regard to case. */
  readonly folded: ReadonlySet<string>;
}

/**
 * Validates the parameters of a format whose errors are certainly the caller's. Everything else is left to the upstream,
 * because vendors keep adding fields. Bounds are the published ones.
 *
 * @param rules by the path of a parameter, `generationConfig.temperature` for instance
 * @param spellingsOf the names that a member may have
 */
export function parameters(
  rules: Readonly<Record<string, Rule>>,
  spellingsOf: (name: string) => readonly string[] = (name) => [name],
): ParameterRules {
  const byMember = new Map<string, Parameter[]>();
  const documented = new Map([['model', 'model']]);
  const all = Object.entries(rules).map(([name, rule], order) => {
    const [outermost = '', ...others] = name.split('.');
    const parameter = { name, order, inner: others.map(spellingsOf), rule };
    for (const spelling of spellingsOf(outermost)) {
      byMember.set(spelling, [...(byMember.get(spelling) ?? []), parameter]);
      documented.set(spelling, outermost);
    }
    return parameter;
  });
  return { all, byMember, documented, folded: new Set([...documented.keys()].map(fold)) };
}

/** A case-folded name, as case-insensitive parsers compare it: the Kelvin sign is a k, and the long s an s. */
export function fold(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/** Protobuf takes camelCase and snake_case. */
export function bothCases(name: string): readonly string[] {
  return [...new Set([name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)])];
}

function defineRule(schema: JsonSchema, check: Check): Rule {
  return Object.assign(check, { schema });
}

export const boolean = defineRule({ type: 'boolean' }, (value) =>
  typeof value === 'boolean' ? undefined : 'true or false',
);
/** For a feature that cannot work through a gateway. */
export const falseBecause = (reason: string): Rule =>
  defineRule({ const: false }, (value) => (value === false ? undefined : `false: ${reason}`));
export const text = defineRule({ type: 'string' }, (value) => (typeof value === 'string' ? undefined : 'a string'));
export const textOrObject = defineRule({ type: ['string', 'object'] }, (value) =>
  typeof value === 'string' || isJsonObject(value) ? undefined : 'a string or an object',
);
export const object = defineRule({ type: 'object' }, (value) => (isJsonObject(value) ? undefined : 'an object'));

export const word = (words: readonly string[], right: string): Rule =>
  defineRule({ type: 'string', enum: words }, (value) =>
    typeof value === 'string' && words.includes(value) ? undefined : right,
  );

/** A list of valid entries; a mistake is reported with the index of its entry. */
const listOf = (entry: Rule): Rule =>
  defineRule({ type: 'array', items: entry.schema }, (value) => {
    if (!Array.isArray(value)) return 'a list';
    for (let index = 0; index < value.length; index++) {
      const fault = entry(value[index] as JsonValue);
      if (typeof fault === 'string') return { at: `[${index}]`, right: fault };
      if (fault !== undefined) return { at: `[${index}]${fault.at}`, right: fault.right };
    }
    return undefined;
  });
export const objects = listOf(object);
/** One entry of a list, or the list. */
export const objectOr = (list: Rule): Rule =>
  defineRule({ anyOf: [object.schema, list.schema] }, (value) => (isJsonObject(value) ? undefined : list(value)));
export const texts = listOf(text);

/** A list with at least one entry, all of which are valid. */
export const entriesOf = (entry: Rule): Rule => {
  const list = listOf(entry);
  return defineRule({ ...list.schema, minItems: 1 }, (value) =>
    Array.isArray(value) && value.length > 0 ? list(value) : 'a list with at least one entry',
  );
};
export const nonEmptyObjects = entriesOf(object);

/** An object that has a member, which is valid. */
export const objectWith = (name: string, member: Rule): Rule =>
  defineRule({ type: 'object', properties: { [name]: member.schema }, required: [name] }, (value) => {
    if (!isJsonObject(value)) return 'an object';
    const fault = member(value[name] ?? null);
    return typeof fault === 'string' ? { at: `.${name}`, right: fault } : undefined;
  });

export const textOr = (list: Rule): Rule =>
  defineRule({ anyOf: [{ type: 'string' }, list.schema] }, (value) => {
    if (typeof value === 'string') return undefined;
    return Array.isArray(value) ? list(value) : 'a string or a list';
  });

/** A text, or a list with entries, none of which is empty; entries of other types are left to the upstream. */
export const filled = defineRule({ minLength: 1, minItems: 1 }, (value) => {
  const right = 'a non-empty string or list';
  if (!Array.isArray(value)) return value === '' ? right : undefined;
  if (value.length === 0) return right;
  const empty = value.findIndex((entry) => entry === '' || (Array.isArray(entry) && entry.length === 0));
  return empty === -1 ? undefined : { at: `[${empty}]`, right: 'non-empty' };
});

export const number = (minimum: number, maximum: number): Rule =>
  defineRule({ type: 'number', minimum, maximum }, (value) =>
    typeof value === 'number' && value >= minimum && value <= maximum
      ? undefined
      : `a number from ${minimum} to ${maximum}`,
  );

export const integer = (minimum: number, maximum = 1_000_000_000): Rule =>
  defineRule({ type: 'integer', minimum, maximum }, (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum
      ? undefined
      : `an integer from ${minimum} to ${maximum}`,
  );

/** 64 bits, as in the reference. */
export const seed = integer(-(2 ** 63), 2 ** 63);

/** @throws GatewayError `invalid_request` naming the first invalid parameter */
export function checkParameters(body: JsonObject, rules: ParameterRules, required: readonly string[]): void {
  requireParameters(body, rules, required);
  let first: { readonly order: number; readonly error: GatewayError } | undefined;
  for (const member of Object.keys(body)) {
    for (const { name, order, inner, rule } of rules.byMember.get(member) ?? []) {
      const value = inner.length === 0 ? body[member] : valueAt(body[member], inner);
      const fault = isMissing(value) ? undefined : rule(value);
      if (fault === undefined || (first !== undefined && first.order < order)) continue;
      const { at, right } = typeof fault === 'string' ? { at: '', right: fault } : fault;
      first = { order, error: invalid(name + at, right) };
    }
  }
  if (first !== undefined) throw first.error;
}

/** @throws GatewayError `invalid_request` naming the first that is missing */
export function requireParameters(body: JsonObject, rules: ParameterRules, required: readonly string[]): void {
  for (const name of required) {
    if (isMissing(body[name])) throw missing(name, rules);
  }
}

function missing(name: string, { all }: ParameterRules): GatewayError {
  const expected = all.find((parameter) => parameter.name === name)?.rule(null);
  const hint = typeof expected === 'string' ? ` It must be ${expected}.` : '';
  return new GatewayError('invalid_request', `Missing required parameter: \`${name}\`.${hint}`, { param: name });
}

function valueAt(outer: JsonValue | undefined, inner: Parameter['inner']): JsonValue | undefined {
  let value = outer;
  for (const spellings of inner) value = isJsonObject(value) ? ownMember(value, spellings) : undefined;
  return value;
}

/** Under the first of the names that it has. */
function ownMember(value: JsonObject, spellings: readonly string[]): JsonValue | undefined {
  for (const name of spellings) if (Object.hasOwn(value, name)) return value[name];
  return undefined;
}
