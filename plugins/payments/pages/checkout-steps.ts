import type { RecordOrder } from '#core/business/payments/order-lines.ts';
import { type JsonSchema, string } from '#core/platform/schema.ts';
import type { CheckoutPart, CheckoutStep } from '#core/web/pages/checkout-step.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

export type CheckoutSteps = ReadonlyMap<string, CheckoutStep>;

const schemas = new WeakMap<CheckoutSteps, JsonSchema>();

/** Caches the schema, because a schema should be compiled only once. */
export function createFieldsSchema<S extends JsonSchema>(pageFields: S, steps: CheckoutSteps): S {
  const schema = schemas.get(steps) ?? addStepFields(pageFields, steps);
  schemas.set(steps, schema);
  return schema as S;
}

function addStepFields(pageFields: JsonSchema, steps: CheckoutSteps): JsonSchema {
  const stepFields = [...steps.values()].flatMap(({ fields }) => Object.entries(fields));
  const duplicate = stepFields.find(([name]) => pageFields.properties?.[name] !== undefined);
  if (duplicate !== undefined)
    throw new Error(`a checkout step has the field "${duplicate[0]}", which the page already has`);
  return {
    ...pageFields,
    properties: {
      ...pageFields.properties,
      ...Object.fromEntries(stepFields.map(([name, maxLength]) => [name, string({ maxLength })])),
    },
  };
}

export async function submitSteps(
  steps: CheckoutSteps,
  fields: Readonly<Record<string, unknown>>,
  request: PageRequest,
): Promise<RecordOrder | undefined> {
  const records: RecordOrder[] = [];
  for (const step of steps.values()) {
    const values = Object.keys(step.fields).flatMap((name) =>
      typeof fields[name] === 'string' ? [[name, fields[name]]] : [],
    );
    const record = await step.submit(Object.fromEntries(values), request);
    if (record !== undefined) records.push(record);
  }
  if (records.length === 0) return undefined;
  return async (transaction, order) => {
    const lines = [];
    for (const record of records) lines.push(...(await record(transaction, order)));
    return lines;
  };
}

export async function describeSteps(steps: CheckoutSteps, request: PageRequest) {
  const parts = await Promise.all(
    [...steps.values()].map(async (step) => ({ ...(await step.show(request)), lengths: step.fields })),
  );
  const folds = parts.flatMap(({ fold, lengths }) =>
    fold === undefined ? [] : [describeFold(fold, lengths, request)],
  );
  return {
    sentences: parts.flatMap(({ sentence }) => (sentence === undefined ? [] : [sentence])),
    hidden: parts.flatMap(({ hidden = {} }) => Object.entries(hidden)),
    boxes: parts
      .flatMap(({ boxes = [] }) => boxes)
      .map((box) => ({ ...box, isTicked: request.form.values[box.name] === '1' })),
    boxNotes: parts.flatMap(({ boxNote }) => (boxNote === undefined ? [] : [boxNote])),
    folds,
    /** The first error, repeated above the plans: a phone shows the top of the page, and the fields are at the bottom. */
    problem: Object.entries(request.form.errors).find(([name]) => name !== 'days')?.[1] ?? '',
  };
}

function describeFold(
  { fields, text = '', ...fold }: NonNullable<CheckoutPart['fold']>,
  lengths: CheckoutStep['fields'],
  { form }: PageRequest,
) {
  const filled = fields.map(({ hint = '', inputMode = 'text', autocomplete = 'off', ...field }) => ({
    ...field,
    maxLength: lengths[field.name],
    hint,
    inputMode,
    autocomplete,
    value: form.values[field.name] ?? '',
    error: form.errors[field.name] ?? '',
  }));
  return { ...fold, text, fields: filled, isOpen: filled.some(({ value, error }) => value !== '' || error !== '') };
}
