import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import { isActionError, runAction } from '#core/business/operator-actions/actions.ts';
import type { ActionWords } from '#core/business/operator-actions/operator-actions.ts';
import { readTypedAmount } from '#core/business/payments/amount.ts';
import { accountOf, defineForm, FieldErrors, type Page, type PageRequest, Redirect } from '../pages/page.ts';
import { tellDone } from './tell-action.ts';
import { boolean, integer, object, string } from '#core/platform/schema.ts';

/** One field of the form of an action. */
export interface ActionField {
  /** `amount` of money, one `line` of text, a `choice` between ways to do it, a `note` of several lines, `manual`: a box to tick. */
  readonly name: 'days' | 'amount' | 'line' | 'choice' | 'note' | 'manual';
  readonly label: string;
  readonly hint: string;
  readonly isOptional?: boolean;
  /** Initial value. */
  readonly value?: number;
  /** Of a choice; the first one is chosen. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
}

/** A page's prompt before an action. Texts are ready to be printed. */
export interface ActionQuestion {
  /** The heading: the action as a question. */
  readonly question: string;
  /** Its effects, and their limits. */
  readonly text: string;
  readonly facts: readonly { readonly name: string; readonly value: string; readonly path?: string }[];
  /** Label of the button that does it. */
  readonly label: string;
  readonly isDanger: boolean;
  /** Target of "Cancel". */
  readonly back: string;
  /** In their order on the page. */
  readonly fields: readonly ActionField[];
  /** The route that it is about, which the form sends along. */
  readonly route?: string;
}

interface ActionInput {
  readonly note: string;
  readonly days: number;
  readonly amount: number | undefined;
  readonly choice: string;
  readonly line: string;
  readonly isManual: boolean;
  readonly route: string;
}

/** A page of an action: its prompt and next page. The action's effects and record are in its description. */
export interface ActionPage {
  readonly path: string;
  /** Key. */
  readonly title: string;
  readonly action: ActionKind;
  /** @throws PageError when there is nothing to ask about */
  ask(request: PageRequest): ActionQuestion | Promise<ActionQuestion>;
  /** The handle of its subject. @throws PageError */
  subject(request: PageRequest, input: ActionInput): string | Promise<string>;
  /** Input of the action; default: from `wordsOf`. */
  words?(input: ActionInput, request: PageRequest): ActionWords;
  /** Next page after success. */
  next(request: PageRequest): string | Promise<string>;
  /** Place and text for an error of this kind; others are shown at the top, with the text of their kind. */
  readonly errors?: Readonly<Record<string, readonly [field: string, text: string]>>;
}

/** Confirmation on the page that follows an action; '' without one. */
export function describeDone({ query, t }: Pick<PageRequest, 'query' | 't'>): string {
  const action = query['done'] ?? '';
  const text = tellDone(action, t);
  return text === action ? '' : t('operator.done_now', { action: text });
}

const maxNoteLength = 500;

/** A page that asks whether, and a form that does it and records who has. */
export function actionPage(definition: ActionPage): Page {
  const { path, title, action, ask, subject, next } = definition;
  const { properties, required = [] } = action.input;
  const needsLine = required.some((name) => name === lineOf(action));
  const needsChoice = required.some((name) => name === choiceOf(action));
  const takesAmount = properties['amount'] !== undefined;
  const needsNote = required.includes('note');
  const form = defineForm({
    fields: object(needsNote ? ['note'] : [], {
      note: string({ minLength: needsNote ? 1 : 0, maxLength: maxNoteLength, pattern: needsNote ? '\\S' : '' }),
      days: integer({ minimum: -365, maximum: 365 }),
      amount: string({ maxLength: 40 }),
      choice: string({ maxLength: 40 }),
      line: string({ maxLength: 320 }),
      manual: boolean(),
      route: string({ maxLength: 300 }),
    }),
    once: true,
    async submit({ note = '', days = 0, amount = '', choice = '', line = '', manual = false, route = '' }, request) {
      const money = takesAmount ? requireAmount(amount) : undefined;
      const input = { note: note.trim(), days, amount: money, choice, line: line.trim(), isManual: manual, route };
      if (input.line === '' && needsLine) throw new FieldErrors({ line: 'form.required' });
      if (choice === '' && needsChoice) throw new FieldErrors({ choice: 'form.required' });
      const about = await subject(request, input);
      const words = definition.words?.(input, request) ?? wordsOf(action, input);
      await act(request, action, about, words, definition.errors);
      return new Redirect(`${await next(request)}?done=${action.name}`);
    },
  });
  return {
    path,
    role: 'operator',
    title,
    template: 'parts/action.eta',
    styles: ['operator.css', 'tables.css'],
    show: ask,
    forms: [form],
  };
}

/** @throws FieldErrors for invalid amounts and for zero: only commands and the API read an omitted amount as all */
function requireAmount(text: string): number {
  if (text.trim() === '') throw new FieldErrors({ amount: 'form.required' });
  const amount = readTypedAmount(text) ?? 0;
  if (amount === 0) throw new FieldErrors({ amount: 'operator.amount_invalid' });
  return amount;
}

/** Does it as the operator who is signed in. @throws FieldErrors in place of errors for people */
export async function act<Input extends object>(
  request: PageRequest,
  action: ActionKind<Input>,
  handle: string,
  words: NoInfer<Input>,
  errors: ActionPage['errors'] = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { id, email, name } = accountOf(request);
  try {
    return (await runAction(request.host, { id, name: email ?? name }, action, handle, words)).result;
  } catch (error) {
    if (!isActionError(error)) throw error;
    const [field, text] = errors[error.kind] ?? ['', `operator.act.error.${error.kind}`];
    throw new FieldErrors({ [field]: text }, { reason: error.message });
  }
}

/** The last part of its path. */
export function slugOf(action: string): string {
  return action.slice(action.indexOf('.') + 1).replaceAll('_', '-');
}

const lines = ['to', 'confirm', 'label'] as const;
const choices = ['sign_in', 'as', 'outcome'] as const;

export function lineOf({ input }: Pick<ActionKind, 'input'>): (typeof lines)[number] | undefined {
  return lines.find((name) => input.properties[name] !== undefined);
}

function choiceOf({ input }: Pick<ActionKind, 'input'>): (typeof choices)[number] | undefined {
  return choices.find((name) => input.properties[name] !== undefined);
}

function wordsOf({ input }: Pick<ActionKind, 'input'>, { note, days, line, choice }: ActionInput): ActionWords {
  const [lineName, choiceName] = [lineOf({ input }), choiceOf({ input })];
  return {
    ...(input.properties['days'] !== undefined && { days }),
    ...(choiceName !== undefined && choice !== '' && { [choiceName]: choice }),
    ...(lineName !== undefined && line !== '' && { [lineName]: line }),
    ...(note !== '' && { note }),
  };
}
