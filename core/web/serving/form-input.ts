import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { JsonSchema } from '#core/platform/schema.ts';
import { isDay } from '#core/platform/timing/time-zone.ts';
import { FieldErrors } from '../pages/page.ts';
import { removeNul } from '../pages/remove-nul.ts';
import { formTokenField } from '../sessions/form-token.ts';

const validators = new WeakMap<JsonSchema, ValidateFunction>();

const ajv = new Ajv({
  coerceTypes: 'array',
  useDefaults: true,
  removeAdditional: true,
  allErrors: true,
  strict: false,
  formats: { date: isDay, email: true },
});

/** Reads the declared form fields. If a field was sent several times, its last value wins, unless it is a list. */
export function readFields(payload: unknown, schema: JsonSchema): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries((payload ?? {}) as Record<string, string | string[]>)) {
    if (name === formTokenField || schema.properties?.[name] === undefined) continue;
    const isList = schema.properties[name].type === 'array';
    const values = [value].flat().map((text) => removeNul(text).trim());
    fields[name] = isList ? values : (values.at(-1) ?? '');
  }
  return fields;
}

/** Parses a form's input. Empty fields count as not sent. Throws FieldErrors with the first error of each field. */
export function parseFields(fields: Readonly<Record<string, string | string[]>>, schema: JsonSchema): object {
  const input = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
  const validate = getValidator(schema);
  if (validate(input)) return input;
  const errors: Record<string, string> = {};
  const values: Record<string, number> = {};
  for (const error of validate.errors ?? []) {
    const field = getField(error);
    if (errors[field] !== undefined) continue;
    const property = schema.properties?.[field];
    const bounds = describeBounds(error, property);
    // All errors of a form share one set of placeholders, so each text can state the bounds of only one field.
    const isFirst = bounds !== undefined && !Object.values(errors).includes(bounds.text);
    errors[field] = isFirst ? bounds.text : chooseText(error, property);
    if (isFirst) Object.assign(values, bounds.values);
  }
  throw new FieldErrors(errors, values);
}

interface Bounds {
  readonly text: string;
  readonly values: Readonly<Record<string, number>>;
}

function describeBounds(
  { keyword }: ErrorObject,
  { type, minimum, maximum, maxLength }: JsonSchema = {},
): Bounds | undefined {
  if (keyword === 'maxLength' && maxLength !== undefined)
    return { text: 'form.too_long_for', values: { longest: maxLength } };
  if (keyword === 'required' || type !== 'integer' || minimum === undefined || maximum === undefined) return undefined;
  return { text: 'form.number', values: { minimum, maximum } };
}

function getValidator(schema: JsonSchema): ValidateFunction {
  const existing = validators.get(schema);
  if (existing !== undefined) return existing;
  const validator = ajv.compile({ additionalProperties: false, ...schema });
  validators.set(schema, validator);
  return validator;
}

function getField({ instancePath, keyword, params }: ErrorObject): string {
  if (keyword === 'required') return String(params['missingProperty']);
  return instancePath.split('/')[1] ?? '';
}

function chooseText({ keyword }: ErrorObject, { format }: JsonSchema = {}): string {
  if (keyword === 'required') return 'form.required';
  if (keyword === 'maxLength') return 'form.too_long';
  return format === 'email' ? 'form.email' : 'form.invalid';
}
