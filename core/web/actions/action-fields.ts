import { type ActionKind, type InputSchema, partsOf } from '#core/business/operator-actions/action-kind.ts';
import type { ActionWords } from '#core/business/operator-actions/operator-actions.ts';
import { tellChoice, type Teller } from '#core/business/operator-actions/telling.ts';
import { readTypedAmount } from '#core/business/payments/amount.ts';
import { type JsonSchema, string } from '#core/platform/schema.ts';
import { instantOf, localOf, localTimeField } from '../pages/local-time.ts';
import { FieldErrors, type PageRequest } from '../pages/page.ts';

/** What a form asks for a member of an input, where that does not follow from its schema. Texts are ready to be printed. */
interface FieldWish {
  readonly hint?: string;
  /** Initial value, as the action takes it. */
  readonly value?: unknown;
  /** To choose from; the first one is chosen. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  readonly isRequired?: boolean;
  readonly isDisabled?: boolean;
}

/** By member; false for one that the form does not ask for. */
export type FieldWishes = Readonly<Record<string, FieldWish | false>>;

type Control = 'check' | 'choice' | 'date' | 'line' | 'lines' | 'money' | 'number' | 'time';

/** A field for `parts/fields.eta`. */
type FormField = ReturnType<typeof describeField>;

/** Fields of these kinds stand side by side where two follow each other. */
const narrow: ReadonlySet<Control> = new Set(['choice', 'date', 'time']);

/**
 * The fields of a form, from the schema of an action's input, in rows. The label of a member is the text `operator.act.NAME.MEMBER`, or
 * else `operator.field.SUBJECT.MEMBER`, or else `operator.field.MEMBER`; its hint ends in `_hint`. The values of an enum have the texts
 * that the record of the action tells them with, or of the label and `.VALUE`, with `.unset` for none of them.
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
      `operator.field.${partsOf(action).subject}.${name}${ending}`,
      `operator.field.${name}${ending}`,
    ]);
  const labelOf = (value: string) => text(`.${value}`) ?? tellChoice(textsOf(tells?.[name]), value, t);
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
    // Of a text in one of the languages: `text_en`.
    language: /_(en|id)$/.exec(name)?.[1],
  };
}

/** Where the texts of a choice are. */
function textsOf(teller: Teller<never> | undefined): string {
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

/** The text of the first of these keys that has one. */
function firstText(t: PageRequest['t'], keys: readonly string[]): string | undefined {
  return keys.map((key) => [key, t(key)]).find(([key, text]) => key !== text)?.[1];
}

/**
 * Schema of what a browser sends for the input of an action.
 *
 * @param known members that the page knows, and no field asks for @param sent other fields that the form sends along
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
 * The input of an action, out of the fields of its form.
 *
 * @param wishes what the form shows: a member that it does not offer is not taken, whatever a browser sends
 * @throws FieldErrors for invalid amounts, and zero, days that no month has, and what only these wishes need
 */
export async function readInput(
  { properties }: InputSchema,
  fields: Readonly<Record<string, unknown>>,
  request: PageRequest,
  wishes: FieldWishes = {},
): Promise<ActionWords> {
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
