import { type ActionKind, type InputSchema, splitActionName } from '#core/business/operator-actions/action-kind.ts';
import { translateChoice, type MemberDescriber } from '#core/business/operator-actions/member-describers.ts';
import type { ActionDetails } from '#core/business/operator-actions/operator-actions.ts';
import { readTypedAmount } from '#core/business/payments/amount.ts';
import { type JsonSchema, string } from '#core/platform/schema.ts';
import { localToInstant, instantToLocal, localTimeField } from '../pages/local-time.ts';
import { FieldErrors, type PageRequest } from '../pages/page.ts';

/** Settings of an input member's field, in addition to the member's schema. Texts are in the reader's language. */
interface FieldSettings {
  readonly hint?: string;
  /** Initial value, in the format of the action's input. */
  readonly value?: unknown;
  /** Choices for the field; the first one is preselected. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  readonly isRequired?: boolean;
  readonly isDisabled?: boolean;
}

/** By member name; false omits the field from the form. */
export type FieldSettingsByName = Readonly<Record<string, FieldSettings | false>>;

type Control = 'check' | 'choice' | 'date' | 'line' | 'lines' | 'money' | 'number' | 'time';

type FormField = ReturnType<typeof describeField>; // for `parts/fields.eta`

const narrowControls: ReadonlySet<Control> = new Set(['choice', 'date', 'time']); // two consecutive fields with the same control share a row

/**
 * Describes a form's fields, in rows, from the schema of an action's input. The label of a member is the text `operator.act.NAME.MEMBER`,
 * or else `operator.field.SUBJECT.MEMBER`, or else `operator.field.MEMBER`; the key of its hint ends in `_hint`. Enum values use the texts
 * from the action's record, or the label's key with `.VALUE`; the empty choice uses `.unset`.
 */
export function describeFields(
  request: Pick<PageRequest, 't' | 'form' | 'format'>,
  action: Pick<ActionKind, 'name' | 'input' | 'tells'>,
  settingsByName: FieldSettingsByName = {},
): FormField[][] {
  const rows: FormField[][] = [];
  for (const [name, schema] of Object.entries(action.input.properties)) {
    const settings = settingsByName[name] ?? {};
    if (settings === false) continue;
    const field = describeField(request, action, name, schema, settings);
    const lastRow = rows.at(-1);
    const canShareRow =
      lastRow?.length === 1 && lastRow[0]?.control === field.control && narrowControls.has(field.control);
    if (canShareRow) lastRow.push(field);
    else rows.push([field]);
  }
  return rows;
}

function describeField(
  { t, form, format }: Pick<PageRequest, 't' | 'form' | 'format'>,
  { name: action, input, tells }: Pick<ActionKind, 'name' | 'input' | 'tells'>,
  name: string,
  schema: JsonSchema,
  settings: FieldSettings,
) {
  const text = (ending: string) =>
    findFirstText(t, [
      `operator.act.${action}.${name}${ending}`,
      `operator.field.${splitActionName(action).subject}.${name}${ending}`,
      `operator.field.${name}${ending}`,
    ]);
  const labelFor = (value: string) =>
    text(`.${value}`) ?? translateChoice(findChoiceTextsPrefix(tells?.[name]), value, t);
  const choices = schema.enum?.map((value) => ({ value: String(value), label: labelFor(String(value)) }));
  const unsetChoice = { value: '', label: text('.unset') ?? t('operator.choose') };
  const options = settings.options ?? (settings.value === undefined && choices ? [unsetChoice, ...choices] : choices);
  const control = chooseControl(schema, options !== undefined);
  const initial =
    control === 'time' && settings.value !== undefined
      ? instantToLocal({ format }, Date.parse(String(settings.value)))
      : settings.value;
  return {
    ...settings,
    options,
    name,
    control,
    schema,
    label: text('') ?? name,
    hint: settings.hint ?? text('_hint') ?? '',
    value: form.values[name] ?? String(initial ?? ''),
    isRequired: settings.isRequired ?? (control === 'money' || input.required?.includes(name) === true),
    // Fields such as `text_en` hold a text in one language.
    language: /_(en|id)$/.exec(name)?.[1],
  };
}

function findChoiceTextsPrefix(describer: MemberDescriber<never> | undefined): string {
  return describer !== undefined && 'texts' in describer ? String(describer.texts) : '';
}

function chooseControl({ type, format, isMultiline, isMoney }: JsonSchema, isChoice: boolean): Control {
  if (isChoice) return 'choice';
  if (type === 'boolean') return 'check';
  if (type === 'integer') return isMoney === true ? 'money' : 'number';
  if (format === 'date-time') return 'time';
  if (format === 'date') return 'date';
  return isMultiline === true ? 'lines' : 'line';
}

function findFirstText(t: PageRequest['t'], keys: readonly string[]): string | undefined {
  return keys.map((key) => [key, t(key)]).find(([key, text]) => key !== text)?.[1];
}

/** @param knownMembers members that the page supplies itself, so that the form has no field for them */
export function createFieldSchema(
  { properties, required = [] }: InputSchema,
  knownMembers: readonly string[],
  extraFields: readonly string[],
): JsonSchema {
  const fieldMembers = Object.entries(properties).filter(([name]) => !knownMembers.includes(name));
  return {
    type: 'object',
    required: fieldMembers.flatMap(([name, { isMoney }]) =>
      isMoney === true || required.includes(name) ? [name] : [],
    ),
    properties: {
      ...Object.fromEntries(extraFields.map((name) => [name, string({ maxLength: 300 })])),
      ...Object.fromEntries(fieldMembers.map(([name, schema]) => [name, toFormSchema(schema)])),
    },
  };
}

function toFormSchema(schema: JsonSchema): JsonSchema {
  if (schema.isMoney === true) return string({ maxLength: 40 });
  return schema.format === 'date-time' ? localTimeField : schema;
}

/**
 * @param settingsByName the form's settings: a member without a field is ignored, even if a browser sends it
 * @throws FieldErrors for invalid or zero amounts, for invalid dates, and for fields that only these settings require
 */
export async function readInput(
  { properties }: InputSchema,
  fields: Readonly<Record<string, unknown>>,
  request: PageRequest,
  settingsByName: FieldSettingsByName = {},
): Promise<ActionDetails> {
  const members: Record<string, unknown> = {};
  for (const [name, { isMoney, format }] of Object.entries(properties)) {
    const [value, settings = {}] = [fields[name], settingsByName[name]];
    if (settings !== false && settings.isRequired === true && value === undefined)
      throw new FieldErrors({ [name]: 'form.required' });
    if (settings === false || value === undefined) continue;
    if (isMoney === true) members[name] = parseAmount(name, String(value));
    else members[name] = format === 'date-time' ? await localToInstant(request, String(value), name) : value;
  }
  return members;
}

function parseAmount(name: string, text: string): number {
  const amount = readTypedAmount(text) ?? 0;
  if (amount === 0) throw new FieldErrors({ [name]: 'operator.amount_invalid' });
  return amount;
}
