import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { JsonSchema } from '#core/platform/schema.ts';
import type { YamlPath } from '../section.ts';
import type { GatewayDocument } from './document.ts';
import { explainErrors, selectMatchingBranches } from './explain.ts';
import { type Mistake } from './mistake.ts';
import { findValidPart, type ValidPart } from './valid-part.ts';

const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  strict: true,
  verbose: true,
  allowUnionTypes: true,
  strictTypes: false,
  strictRequired: false,
  // A schema is used once per load, so optimizing the code for it would cost more than it saves.
  code: { optimize: false },
  // Schemas are not validated either: our own have tests, and `requireValidSchema` checks those of third-party plugins.
  validateSchema: false,
  meta: false,
});

const validators = new WeakMap<JsonSchema, ValidateFunction>(); // by schema, because Ajv never frees compiled schemas

interface Evaluation {
  readonly value: unknown; // with defaults; undefined if invalid
  readonly validPart: ValidPart; // input for rules that compare fields
}

/** Validates values against schemas, fills in defaults and collects mistakes. */
export class Validator {
  readonly document: GatewayDocument;
  readonly mistakes: Mistake[] = [];

  constructor(document: GatewayDocument) {
    this.document = document;
    this.mistakes.push(...document.mistakes);
  }

  /** Reports a mistake, with `atKey` at the key, unless the value has a variable that could not be filled in: that is reported already. */
  report(path: YamlPath, wrong: string, right: string, atKey = false): void {
    if (!atKey && this.document.hasUnfilledVariable(path)) return;
    this.mistakes.push(this.document.createMistake(path, wrong, right, atKey));
  }

  /** Returns the value with defaults, or undefined if it is invalid. */
  validate(value: unknown, schema: JsonSchema, path: YamlPath): unknown {
    return this.evaluate(value, schema, path).value;
  }

  /** Validates a value. If it is invalid, also returns the part that is valid. */
  evaluate(value: unknown, schema: JsonSchema, path: YamlPath): Evaluation {
    // Ajv and the conversion can replace only members, so the value is wrapped, and paths inside it start with `value`.
    const wrapper = { value };
    const check = getValidator(schema);
    let errors = runValidator(check, wrapper);
    if (errors.length > 0 && this.#convertVariables(errors, wrapper, path)) errors = runValidator(check, wrapper);
    const resolvePath = (innerPath: YamlPath) => [...path, ...innerPath.slice(1)];
    const hasVariable = (innerPath: YamlPath) => this.document.findVariableText(resolvePath(innerPath)) !== undefined;
    for (const { path: innerPath, wrong, right, atKey } of explainErrors(errors, hasVariable)) {
      const fullPath = resolvePath(innerPath);
      if (atKey || !hasVariable(innerPath)) this.report(fullPath, wrong, right, atKey);
      else this.report(fullPath, ...this.#explainVariable(fullPath, right));
    }
    const validPart = findValidPart(wrapper.value, selectMatchingBranches(errors), schema);
    return { value: errors.length === 0 ? wrapper.value : undefined, validPart };
  }

  #explainVariable(path: YamlPath, right: string): [string, string] {
    const written = JSON.stringify(this.document.findVariableText(path));
    if (!this.document.hasEmptyVariable(path)) return [`does not accept the value of ${written}`, right];
    return [`is ${written}, which is empty`, `set the variable to a value, or give it a default: \${NAME:-…}`];
  }

  /** Converts values such as `${PORT}` to the required type, even if quoted, because variables inside braces have to be quoted. */
  #convertVariables(errors: readonly ErrorObject[], wrapper: object, path: YamlPath): boolean {
    let hasConverted = false;
    for (const { keyword, instancePath, schema, data } of errors) {
      if (keyword !== 'type' || typeof data !== 'string') continue;
      const parts = instancePath
        .split('/')
        .slice(1)
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
      // Drops the wrapper's `value` from the path.
      if (this.document.findVariableText([...path, ...parts.slice(1)]) === undefined) continue;
      const converted = convertText(data, [schema].flat());
      if (converted === undefined) continue;
      const parent = parts
        .slice(0, -1)
        .reduce<unknown>((node, part) => (node as Record<string, unknown>)[part], wrapper);
      (parent as Record<string, unknown>)[parts.at(-1) as string] = converted;
      hasConverted = true;
    }
    return hasConverted;
  }
}

/** Returns a schema's default, including the defaults of its members; undefined if it has none. It is not validated. */
export function readDefaults(schema: JsonSchema): Evaluation {
  const value = fillDefaults(structuredClone(schema.default), schema);
  return { value, validPart: findValidPart(value, [], schema) };
}

function fillDefaults(value: unknown, { properties = {}, items, additionalProperties }: JsonSchema): unknown {
  // Equivalent to ajv's `useDefaults`, but without compiling a validator, which takes 3 ms.
  if (Array.isArray(value) && items !== undefined) for (const item of value) fillDefaults(item, items);
  if (!isJsonObject(value)) return value;
  for (const [name, { default: missing }] of Object.entries(properties))
    if (missing !== undefined && value[name] === undefined) value[name] = structuredClone(missing) as JsonValue;
  for (const [name, member] of Object.entries(value)) {
    const schema = properties[name] ?? additionalProperties;
    if (typeof schema === 'object') fillDefaults(member, schema);
  }
  return value;
}

function getValidator(schema: JsonSchema): ValidateFunction {
  const existing = validators.get(schema);
  if (existing !== undefined) return existing;
  const check = ajv.compile({ type: 'object', properties: { value: schema as object } });
  validators.set(schema, check);
  return check;
}

let schemaValidator: Ajv | undefined;

/**
 * Validates a schema that a third-party plugin has written: compiling it would accept `anyOf: []` and a negative `minLength`.
 *
 * @throws Error naming the place
 */
export function requireValidSchema(schema: JsonSchema): void {
  schemaValidator ??= new Ajv({ strict: false });
  // A plugin may name a newer dialect, as zod does. Ajv can compile its schemas, but does not know the name.
  const { $schema: _dialect, ...keywords }: JsonSchema & { readonly $schema?: string } = schema;
  if (schemaValidator.validateSchema(keywords) === true) return;
  const [{ instancePath = '', message = 'is wrong' } = {}] = schemaValidator.errors ?? [];
  throw new Error(instancePath === '' ? message : `${instancePath.slice(1)} ${message}`);
}

function runValidator(check: ValidateFunction, wrapper: object): ErrorObject[] {
  check(wrapper);
  return [...(check.errors ?? [])];
}

function convertText(text: string, types: readonly unknown[]): number | boolean | undefined {
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const isNumeric = types.includes('number') || types.includes('integer');
  return isNumeric && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined;
}
