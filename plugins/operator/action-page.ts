import { type OperatorAction, recordAction } from '#core/business/operator-actions/operator-actions.ts';
import { accountOf, defineForm, FieldErrors, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { viewPath } from '#core/web/pages/views.ts';

/** What a page asks before something is done. Texts are ready to be printed. */
export interface ActionQuestion {
  /** The heading: what will be done, as a question. */
  readonly question: string;
  /** What it does, and what it does not. */
  readonly text: string;
  readonly facts: readonly { readonly name: string; readonly value: string }[];
  /** Label of the button that does it. */
  readonly label: string;
  readonly isDanger: boolean;
  /** Where "Cancel" leads. */
  readonly back: string;
  /** Label of the field for the reason or the way; undefined where none is asked for. */
  readonly note: { readonly label: string; readonly hint: string } | undefined;
  /** Label of the field for a number of days. */
  readonly days?: { readonly label: string; readonly hint: string };
  /** Label of the field for an amount of money, with the largest one, which it shows. */
  readonly amount?: { readonly label: string; readonly hint: string; readonly max: number };
  /** Label of the field for a line of text. */
  readonly line?: { readonly label: string; readonly hint: string };
  /** A choice between some ways to do it; the first one is chosen. */
  readonly choice?: {
    readonly label: string;
    readonly hint: string;
    readonly options: readonly { readonly value: string; readonly label: string }[];
  };
  /** Label of a box to tick. */
  readonly manual?: { readonly label: string; readonly hint: string };
  /** The route that it is about, which the form sends along. */
  readonly route?: string;
}

export interface ActionInput {
  readonly note: string;
  readonly days: number;
  readonly amount: number | undefined;
  /** The value of the chosen option; empty without a choice. */
  readonly choice: string;
  /** What the line of text has; empty without one. */
  readonly line: string;
  readonly isManual: boolean;
  readonly route: string;
}

export interface ActionDefinition {
  readonly path: string;
  /** Key. */
  readonly title: string;
  readonly action: OperatorAction['action'];
  /** @throws PageError when there is nothing to ask about */
  ask(request: PageRequest): ActionQuestion | Promise<ActionQuestion>;
  /** Id of the account or the order, or the route, for the record. @throws PageError */
  subject(request: PageRequest, input: ActionInput): string | Promise<string>;
  /** @returns where the browser goes next @throws FieldErrors, PageError */
  perform(request: PageRequest, input: ActionInput, subject: string): Promise<string>;
  readonly needsNote: boolean;
}

/** Characters of a note. */
const longestNote = 500;

/** A page that asks whether, and a form that does it and records who has. */
export function actionPage({ path, title, action, ask, subject, perform, needsNote }: ActionDefinition): Page {
  const form = defineForm({
    fields: {
      type: 'object',
      properties: {
        note: { type: 'string', minLength: needsNote ? 1 : 0, maxLength: longestNote, pattern: needsNote ? '\\S' : '' },
        days: { type: 'integer', minimum: -365, maximum: 365 },
        amount: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
        choice: { type: 'string', maxLength: 40 },
        line: { type: 'string', maxLength: 320 },
        manual: { type: 'boolean' },
        route: { type: 'string', maxLength: 300 },
      },
      required: needsNote ? ['note'] : [],
    },
    once: true,
    async submit({ note = '', days = 0, amount, choice = '', line = '', manual = false, route = '' }, request) {
      const input = { note: note.trim(), days, amount, choice, line: line.trim(), isManual: manual, route };
      const about = await subject(request, input);
      const { id, email, name } = accountOf(request);
      const next = await recordAction(
        request.host.database,
        { operator: { id, name: email ?? name }, action, subject: about, note: describeInput(input) },
        () => perform(request, input, about),
      );
      return new Redirect(next);
    },
  });
  return {
    path,
    role: 'operator',
    title,
    template: viewPath('operator/action.eta'),
    styles: ['operator.css'],
    show: ask,
    forms: [form],
  };
}

/** What is kept with the action: the operator's words, with the days or the amount. */
function describeInput({ note, days, amount, choice, line, isManual }: ActionInput): string | undefined {
  const count = days === 0 ? '' : `${days > 0 ? '+' : ''}${days} d`;
  const parts = [count, amount === undefined ? '' : String(amount), choice, line, isManual ? 'manual' : '', note];
  return parts.filter((part) => part !== '').join(', ') || undefined;
}

/** Shows the form again with this. @param fields keys of texts by field @param message for the record of actions */
export function refusal(fields: Readonly<Record<string, string>>, message: string): FieldErrors {
  return Object.assign(new FieldErrors(fields), { message });
}
