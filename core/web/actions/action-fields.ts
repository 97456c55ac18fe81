import { type ActionKind, type InputSchema, splitActionName } from '#core/business/operator-actions/action-kind.ts';
import type { ActionDetails } from '#core/business/operator-actions/operator-actions.ts';
import { translateChoice, type MemberDescriber } from '#core/business/operator-actions/member-describers.ts';
import { readTypedAmount } from '#core/business/payments/amount.ts';
import { type JsonSchema, string } from '#core/platform/schema.ts';
import { instantOf, localOf, localTimeField } from '../pages/local-time.ts';
import { FieldErrors, type PageRequest } from '../pages/page.ts';

/** Form settings of an input member that its schema does not provide. Texts are ready to be printed. */
interface FieldWish {
  readonly hint?: string;
  /** Initial value in the format of the action's input. */
  readonly value?: unknown;
  /** Choices of the field; the first one is preselected. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  readonly isRequired?: boolean;
  readonly isDisabled?: boolean;
}

/** Settings by member name; false leaves the field out of the form. */
export type FieldWishes = Readonly<Record<string, FieldWish | false>>;

type Control = 'check' | 'choice' | 'date' | 'line' | 'lines' | 'money' | 'number' | 'time';

/** A field for `parts/fields.eta`. */
type FormField = ReturnType<typeof describeField>;

/** Two consecutive fields of the same kind share a row if the kind is listed here. */
const narrow: ReadonlySet<Control> = new Set(['choice', 'date', 'time']);

/**
 * Describes the fields of a form, in rows, from the schema of an action's input. A member's label is the text `operator.act.NAME.MEMBER`,
 * with the fallbacks `operator.field.SUBJECT.MEMBER` and `operator.field.MEMBER`; the key of its hint ends in `_hint`. The values of an
 * enum use the texts of the action's record, or the label's key with `.VALUE`; the empty choice uses `.unset`.
 */
export function describeFields(
  request: Pick<PageRequest, 't' | 'form' | 'format'>,
  action: Pick<ActionKind, 'name' | 'input' | 'tells'>,
  wishes: FieldWishes = {},
): FormField[][] {
  const rows: FormField[][] = [];
  for (const [name, schema] of Object.entries(action.input.properties)) {
    const wish = wishes[name] ?? {};
    if (wish === false) continue;
    const field = describeField(request, action, name, schema, wish);
    const [last] = rows.at(-1) ?? [];
    if (rows.at(-1)?.length === 1 && last?.control === field.control && narrow.has(field.control))
      rows.at(-1)?.push(field);
    else rows.push([field]);
  }
  return rows;
}

function describeField(
  { t, form, format }: Pick<PageRequest, 't' | 'form' | 'format'>,
  { name: action, input, tells }: Pick<ActionKind, 'name' | 'input' | 'tells'>,
  name: string,
  schema: JsonSchema,
  wish: FieldWish,
) {
  const text = (ending: string) =>
    firstText(t, [
      `operator.act.${action}.${name}${ending}`,
      `operator.field.${splitActionName(action).subject}.${name}${ending}`,
      `operator.field.${name}${ending}`,
    ]);
  const labelOf = (value: string) => text(`.${value}`) ?? translateChoice(textsOf(tells?.[name]), value, t);
  const choices = schema.enum?.map((value) => ({ value: String(value), label: labelOf(String(value)) }));
  const unset = { value: '', label: text('.unset') ?? t('operator.choose') };
  const options = wish.options ?? (wish.value === undefined && choices ? [unset, ...choices] : choices);
  const control = controlOf(schema, options !== undefined);
  const initial =
    control === 'time' && wish.value !== undefined ? localOf({ format }, Date.parse(String(wish.value))) : wish.value;
  return {
    ...wish,
    options,
    name,
    control,
    schema,
    label: text('') ?? name,
    hint: wish.hint ?? text('_hint') ?? '',
    value: form.values[name] ?? String(initial ?? ''),
    isRequired: wish.isRequired ?? (control === 'money' || input.required?.includes(name) === true),
    // The field holds a text in one language, such as `text_en`.
    language: /_(en|id)$/.exec(name)?.[1],
  };
}

/** Key prefix of a choice's texts; '' if the action defines none. */
function textsOf(teller: MemberDescriber<never> | undefined): string {
  return teller !== undefined && 'texts' in teller ? String(teller.texts) : '';
}

function controlOf({ type, format, isMultiline, isMoney }: JsonSchema, isChoice: boolean): Control {
  if (isChoice) return 'choice';
  if (type === 'boolean') return 'check';
  if (type === 'integer') return isMoney === true ? 'money' : 'number';
  if (format === 'date-time') return 'time';
  if (format === 'date') return 'date';
  return isMultiline === true ? 'lines' : 'line';
}

/** Returns the text of the first key that has one. */
function firstText(t: PageRequest['t'], keys: readonly string[]): string | undefined {
  return keys.map((key) => [key, t(key)]).find(([key, text]) => key !== text)?.[1];
}

/**
 * Schema of the form fields that a browser sends for the input of an action.
 *
 * @param known members that the page already knows, so the form has no field for them
 * @param sent other fields that the form sends along
 */
export function fieldSchema(
  { properties, required = [] }: InputSchema,
  known: readonly string[],
  sent: readonly string[],
): JsonSchema {
  const asked = Object.entries(properties).filter(([name]) => !known.includes(name));
  return {
    type: 'object',
    required: asked.flatMap(([name, { isMoney }]) => (isMoney === true || required.includes(name) ? [name] : [])),
    properties: {
      ...Object.fromEntries(sent.map((name) => [name, string({ maxLength: 300 })])),
      ...Object.fromEntries(asked.map(([name, schema]) => [name, sentAs(schema)])),
    },
  };
}

function sentAs(schema: JsonSchema): JsonSchema {
  if (schema.isMoney === true) return string({ maxLength: 40 });
  return schema.format === 'date-time' ? localTimeField : schema;
}

/**
 * Reads the input of an action from the fields of its form.
 *
 * @param wishes settings of the form: a member without a field is ignored, even if a browser sends it
 * @throws FieldErrors for invalid or zero amounts, for invalid dates, and for fields that only these settings require
 */
export async function readInput(
  { properties }: InputSchema,
  fields: Readonly<Record<string, unknown>>,
  request: PageRequest,
  wishes: FieldWishes = {},
): Promise<ActionDetails> {
  const members: Record<string, unknown> = {};
  for (const [name, { isMoney, format }] of Object.entries(properties)) {
    const [value, wish = {}] = [fields[name], wishes[name]];
    if (wish !== false && wish.isRequired === true && value === undefined)
      throw new FieldErrors({ [name]: 'form.required' });
    if (wish === false || value === undefined) continue;
    if (isMoney === true) members[name] = readAmount(name, String(value));
    else members[name] = format === 'date-time' ? await instantOf(request, String(value), name) : value;
  }
  return members;
}

function readAmount(name: string, text: string): number {
  const amount = readTypedAmount(text) ?? 0;
  if (amount === 0) throw new FieldErrors({ [name]: 'operator.amount_invalid' });
  return amount;
}
