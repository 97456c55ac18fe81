import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { JsonSchema } from '#core/platform/schema.ts';
import type { GatewayDocument } from './document.ts';
import { explainErrors, withoutOtherBranches } from './explain.ts';
import { type Mistake } from './mistake.ts';
import type { YamlPath } from '../section.ts';
import { findValidPart, type ValidPart } from './valid-part.ts';

const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  strict: true,
  verbose: true,
  allowUnionTypes: true,
  strictTypes: false,
  strictRequired: false,
  // A schema is used once for each load: shorter code for it would cost more than it saves.
  code: { optimize: false },
});

/** Ajv keeps everything it compiles, so a schema is compiled once, not with every reload. */
const compiled = new WeakMap<JsonSchema, ValidateFunction>();

interface Evaluation {
  readonly value: unknown; // with defaults; undefined if invalid
  /** The part that satisfies its schema; rules still apply to it. */
  readonly validPart: ValidPart;
}

/** Validates values against schemas, fills in defaults and collects mistakes. */
export class Validator {
  readonly document: GatewayDocument;
  readonly mistakes: Mistake[] = [];

  constructor(document: GatewayDocument) {
    this.document = document;
    this.mistakes.push(...document.mistakes);
  }

  /** Skips values of variables that could not be filled in: those are reported already. */
  report(path: YamlPath, wrong: string, right: string, atKey = false): void {
    if (!atKey && this.document.isUnfilled(path)) return;
    this.mistakes.push(this.document.mistake(path, wrong, right, atKey));
  }

  /** Returns the value with defaults, or undefined if it is invalid. */
  validate(value: unknown, schema: JsonSchema, path: YamlPath): unknown {
    return this.evaluate(value, schema, path).value;
  }

  /** Validates a value, and also returns the valid part of an invalid one. */
  evaluate(value: unknown, schema: JsonSchema, path: YamlPath): Evaluation {
    const box = { value };
    const check = compile(schema);
    let errors = run(check, box);
    if (errors.length > 0 && this.#convert(errors, box, path)) errors = run(check, box);
    const inFile = (inner: YamlPath) => [...path, ...inner.slice(1)];
    const isFilled = (inner: YamlPath) => this.document.written(inFile(inner)) !== undefined;
    for (const { path: inner, wrong, right, atKey } of explainErrors(errors, isFilled)) {
      const full = inFile(inner);
      if (atKey || !isFilled(inner)) this.report(full, wrong, right, atKey);
      else this.report(full, ...this.#explainVariable(full, right));
    }
    const validPart = findValidPart(box.value, withoutOtherBranches(errors), schema);
    return { value: errors.length === 0 ? box.value : undefined, validPart };
  }

  #explainVariable(path: YamlPath, right: string): [string, string] {
    const written = JSON.stringify(this.document.written(path));
    if (!this.document.isEmptied(path)) return [`does not accept the value of ${written}`, right];
    return [`is ${written}, which is set to nothing`, `set the variable to a value, or give it a default: \${NAME:-…}`];
  }

  /** `${PORT}` is a string unless the schema requires a number. Inside braces it must be quoted, so quotes do not matter. */
  #convert(errors: readonly ErrorObject[], box: object, path: YamlPath): boolean {
    let hasConverted = false;
    for (const { keyword, instancePath, schema, data } of errors) {
      if (keyword !== 'type' || typeof data !== 'string') continue;
      const parts = instancePath
        .split('/')
        .slice(1)
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
      if (this.document.written([...path, ...parts.slice(1)]) === undefined) continue;
      const converted = convert(data, [schema].flat());
      if (converted === undefined) continue;
      const parent = parts.slice(0, -1).reduce<unknown>((node, part) => (node as Record<string, unknown>)[part], box);
      (parent as Record<string, unknown>)[parts.at(-1) as string] = converted;
      hasConverted = true;
    }
    return hasConverted;
  }
}

/** Reads the default of a schema, with the defaults of its members; undefined if it has none. */
export function readDefaults(schema: JsonSchema): unknown {
  const box = { value: structuredClone(schema.default) };
  run(compile(schema), box);
  return box.value;
}

function compile(schema: JsonSchema): ValidateFunction {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const check = ajv.compile({ type: 'object', properties: { value: schema as object } });
  compiled.set(schema, check);
  return check;
}

function run(check: ValidateFunction, box: object): ErrorObject[] {
  check(box);
  return [...(check.errors ?? [])];
}

function convert(text: string, types: readonly unknown[]): number | boolean | undefined {
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const isNumeric = types.includes('number') || types.includes('integer');
  return isNumeric && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined;
}
