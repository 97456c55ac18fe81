import type { RecordOrder } from '#core/business/payments/order-lines.ts';
import { type JsonSchema, string } from '#core/platform/schema.ts';
import type { CheckoutPart, CheckoutStep } from '#core/web/pages/checkout-step.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

export type CheckoutSteps = ReadonlyMap<string, CheckoutStep>;

const schemas = new WeakMap<CheckoutSteps, JsonSchema>();

/** Returns the form fields including those of all steps; cached, because schemas are compiled. */
export function checkoutFields<S extends JsonSchema>(own: S, steps: CheckoutSteps): S {
  const known = schemas.get(steps) ?? withSteps(own, steps);
  schemas.set(steps, known);
  return known as S;
}

function withSteps(own: JsonSchema, steps: CheckoutSteps): JsonSchema {
  const asked = [...steps.values()].flatMap(({ fields }) => Object.entries(fields));
  const taken = asked.find(([name]) => own.properties?.[name] !== undefined);
  if (taken !== undefined) throw new Error(`a checkout step has the field "${taken[0]}", which the page has itself`);
  return {
    ...own,
    properties: {
      ...own.properties,
      ...Object.fromEntries(asked.map(([name, maxLength]) => [name, string({ maxLength })])),
    },
  };
}

/** Runs all steps on the submitted fields. @returns function that stores their data; undefined without any */
export async function submitSteps(
  steps: CheckoutSteps,
  sent: Readonly<Record<string, unknown>>,
  request: PageRequest,
): Promise<RecordOrder | undefined> {
  const records: RecordOrder[] = [];
  for (const step of steps.values()) {
    const own = Object.keys(step.fields).flatMap((name) =>
      typeof sent[name] === 'string' ? [[name, sent[name]]] : [],
    );
    const record = await step.submit(Object.fromEntries(own), request);
    if (record !== undefined) records.push(record);
  }
  if (records.length === 0) return undefined;
  return async (transaction, order) => {
    const lines = [];
    for (const record of records) lines.push(...(await record(transaction, order)));
    return lines;
  };
}

/** Collects what the steps show: sentences below the button, hidden fields, checkboxes and folded sections. */
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
    /** First error, shown above the plans: a phone shows the top of the page, while the fields are at its end. */
    problem: Object.entries(request.form.errors).find(([name]) => name !== 'days')?.[1] ?? '',
  };
}

/** Describes a folded section; open if a field is filled in or has an error. */
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
