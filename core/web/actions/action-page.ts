import { type ActionKind, partsOf } from '#core/business/operator-actions/action-kind.ts';
import { isActionError, runAction } from '#core/business/operator-actions/actions.ts';
import type { ActionWords } from '#core/business/operator-actions/operator-actions.ts';
import { accountOf, FieldErrors, type PageForm, type PageRequest, Redirect } from '../pages/page.ts';
import { type FieldWishes, fieldSchema, readInput } from './action-fields.ts';

/** What a browser has sent, by field. */
export type SentFields = Readonly<Record<string, string | undefined>>;

/** What an action is about, and where that is told of. */
export interface FormSubject {
  /** '' for an action without a subject. */
  readonly id: string;
  /** Of its page: the next one, and the target of "Cancel". */
  readonly path: string;
  readonly fields?: FieldWishes;
}

/** A form that does an action: its fields follow from the schema of its input. */
export interface ActionForm {
  /** Of the page; default: where the form is. */
  readonly path?: string;
  /** Members of the input that are parameters of the page's path: no field asks for them. */
  readonly known?: readonly string[];
  /** Names of other fields, which say what it is about. */
  readonly sent?: readonly string[];
  /** Fields beside which an error of this kind is shown; others are shown at the top. */
  readonly errors?: Readonly<Record<string, string>>;
  /** Default: none. @param sent what the form or the address says, by name @throws PageError */
  find?(request: PageRequest, sent: SentFields): FormSubject | Promise<FormSubject>;
  /** Refuses an input by what its schema does not say. @throws FieldErrors */
  check?(input: ActionWords, request: PageRequest): void;
  /** Next page after success, where that is not the subject's. */
  next?(result: ActionWords, sent: SentFields): string;
}

/** The form of an action, which records who has done it. What it asks is described by `describeFields`. */
export function actionForm(action: ActionKind, form: ActionForm): PageForm {
  const { path, known = [], sent = [], errors, find, check, next } = form;
  return {
    ...(path !== undefined && { path }),
    fields: fieldSchema(action.input, known, sent),
    once: true,
    async submit(fields, request) {
      const subject = await find?.(request, fields as SentFields);
      const given = Object.fromEntries(known.map((name) => [name, request.params[name]]));
      const sentOrGiven = { ...(fields as ActionWords), ...given };
      const input = await readInput(action.input, sentOrGiven, request, subject?.fields);
      check?.(input, request);
      const result = await act(request, action, subject?.id ?? '', input, errors);
      return new Redirect(next?.(result, fields as SentFields) ?? `${subject?.path}?done=${action.name}`);
    },
  };
}

/**
 * Does it as the operator who is signed in. The text of an error is `operator.act.NAME.error.KIND`, or else
 * `operator.act.SUBJECT.error.KIND`, or else `operator.act.error.KIND`.
 *
 * @param fields beside which errors are shown, by kind
 * @throws FieldErrors in place of errors for people
 */
export async function act<Input extends object>(
  request: PageRequest,
  action: ActionKind<Input>,
  handle: string,
  words: NoInfer<Input>,
  fields: ActionForm['errors'] = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { id, email, name } = accountOf(request);
  try {
    return (await runAction(request.host, { id, name: email ?? name }, action, handle, words)).result;
  } catch (error) {
    if (!isActionError(error)) throw error;
    const text = errorText(request.t, action.name, error.kind);
    throw new FieldErrors({ [fields[error.kind] ?? '']: text }, { reason: error.message });
  }
}

/** Key of the text about an error of an action. */
export function errorText(t: PageRequest['t'], action: string, kind: string): string {
  const own = [action, partsOf(action).subject].map((name) => `operator.act.${name}.error.${kind}`);
  return own.find((key) => t(key) !== key) ?? `operator.act.error.${kind}`;
}
