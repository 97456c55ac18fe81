import { type ActionKind, splitActionName } from '#core/business/operator-actions/action-kind.ts';
import { isActionError, runAction } from '#core/business/operator-actions/actions.ts';
import type { ActionDetails } from '#core/business/operator-actions/operator-actions.ts';
import { accountOf, FieldErrors, type PageForm, type PageRequest, Redirect } from '../pages/page.ts';
import { type FieldWishes, fieldSchema, readInput } from './action-fields.ts';

/** Fields that a browser has sent, by name. */
export type SentFields = Readonly<Record<string, string | undefined>>;

/** Subject of an action and its page. */
export interface FormSubject {
  /** '' for an action without a subject. */
  readonly id: string;
  /** Path of the subject's page: opened after success, and the target of "Cancel". */
  readonly path: string;
  readonly fields?: FieldWishes;
}

/** A form that runs an action: its fields follow from the schema of its input. */
export interface ActionForm {
  /** Path that the form is submitted to; default: the page that contains the form. */
  readonly path?: string;
  /** Input members that are parameters of the page's path, so the form has no field for them. */
  readonly known?: readonly string[];
  /** Names of additional fields that identify the subject. */
  readonly sent?: readonly string[];
  /** Field next to which an error is shown, by error kind; other errors are shown at the top. */
  readonly errors?: Readonly<Record<string, string>>;
  /** Finds the subject; default: none. @param sent form fields or query parameters, by name @throws PageError */
  find?(request: PageRequest, sent: SentFields): FormSubject | Promise<FormSubject>;
  /** Checks what the schema cannot express. @throws FieldErrors */
  check?(input: ActionDetails, request: PageRequest): void;
  /** Page after success; default: the subject's page. */
  next?(result: ActionDetails, sent: SentFields): string;
}

/** The form of an action; the action is recorded with the operator's name. `describeFields` describes its fields. */
export function actionForm(action: ActionKind, form: ActionForm): PageForm {
  const { path, known = [], sent = [], errors, find, check, next } = form;
  return {
    ...(path !== undefined && { path }),
    fields: fieldSchema(action.input, known, sent),
    once: true,
    async submit(fields, request) {
      const subject = await find?.(request, fields as SentFields);
      const given = Object.fromEntries(known.map((name) => [name, request.params[name]]));
      const sentOrGiven = { ...(fields as ActionDetails), ...given };
      const input = await readInput(action.input, sentOrGiven, request, subject?.fields);
      check?.(input, request);
      const result = await act(request, action, subject?.id ?? '', input, errors);
      return new Redirect(next?.(result, fields as SentFields) ?? `${subject?.path}?done=${action.name}`);
    },
  };
}

/**
 * Runs the action as the signed-in operator. The text of an error is `operator.act.NAME.error.KIND`, with the fallbacks
 * `operator.act.SUBJECT.error.KIND` and `operator.act.error.KIND`.
 *
 * @param fields field next to which an error is shown, by error kind
 * @throws FieldErrors for errors that the operator can act on
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

/** Key of the text for an error of an action. */
export function errorText(t: PageRequest['t'], action: string, kind: string): string {
  const own = [action, splitActionName(action).subject].map((name) => `operator.act.${name}.error.${kind}`);
  return own.find((key) => t(key) !== key) ?? `operator.act.error.${kind}`;
}
