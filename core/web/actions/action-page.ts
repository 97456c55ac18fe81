import { type ActionKind, splitActionName } from '#core/business/operator-actions/action-kind.ts';
import { isActionError, runAction } from '#core/business/operator-actions/actions.ts';
import type { ActionDetails } from '#core/business/operator-actions/operator-actions.ts';
import { accountOf, FieldErrors, type PageForm, type PageRequest, Redirect } from '../pages/page.ts';
import { type FieldSettingsByName, createFieldSchema, readInput } from './action-fields.ts';

export type SentFields = Readonly<Record<string, string | undefined>>;

/** Subject of an action, and its page. */
export interface FormSubject {
  /** '' if the action has no subject. */
  readonly id: string;
  /** Path of the subject's page, which opens after success and on "Cancel". */
  readonly path: string;
  readonly fields?: FieldSettingsByName;
}

/** A form that runs an action. Its fields follow from the schema of the action's input. */
export interface ActionForm {
  /** Path to submit the form to; default: the page that contains the form. */
  readonly path?: string;
  /** Input members that are parameters of the page's path, so that the form has no field for them. */
  readonly pathMembers?: readonly string[];
  /** Names of further fields, which identify the subject. */
  readonly sent?: readonly string[];
  /** The field next to which an error is shown, by error kind. All other errors are shown at the top. */
  readonly errors?: Readonly<Record<string, string>>;
  /** Finds the subject. Default: no subject. `sent` contains form fields or query parameters by name. Throws PageError. */
  find?(request: PageRequest, sent: SentFields): FormSubject | Promise<FormSubject>;
  /** Checks what the schema cannot express. Throws FieldErrors. */
  check?(input: ActionDetails, request: PageRequest): void;
  /** Returns the path to open after success; default: the subject's page. */
  next?(result: ActionDetails, sent: SentFields): string;
}

/** Creates the form for an action, which is recorded under the operator's name. `describeFields` describes the fields. */
export function createActionForm(action: ActionKind, form: ActionForm): PageForm {
  const { path, pathMembers = [], sent: extraFields = [], errors, find, check, next } = form;
  return {
    ...(path !== undefined && { path }),
    fields: createFieldSchema(action.input, pathMembers, extraFields),
    once: true,
    async submit(fields, request) {
      const subject = await find?.(request, fields as SentFields);
      const pathValues = Object.fromEntries(pathMembers.map((name) => [name, request.params[name]]));
      const fieldValues = { ...(fields as ActionDetails), ...pathValues };
      const input = await readInput(action.input, fieldValues, request, subject?.fields);
      check?.(input, request);
      const result = await runFormAction(request, action, subject?.id ?? '', input, errors);
      return new Redirect(next?.(result, fields as SentFields) ?? `${subject?.path}?done=${action.name}`);
    },
  };
}

/**
 * Runs the action as the signed-in operator. The text for an error is `operator.act.NAME.error.KIND`, or else
 * `operator.act.SUBJECT.error.KIND`, or else `operator.act.error.KIND`.
 *
 * @throws FieldErrors for errors that the operator can resolve
 */
export async function runFormAction<Input extends object>(
  request: PageRequest,
  action: ActionKind<Input>,
  subjectId: string,
  input: NoInfer<Input>,
  errorFields: ActionForm['errors'] = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { id, email, name } = accountOf(request);
  try {
    return (await runAction(request.host, { id, name: email ?? name }, action, subjectId, input)).result;
  } catch (error) {
    if (!isActionError(error)) throw error;
    const text = errorTextKey(request.t, action.name, error.kind);
    throw new FieldErrors({ [errorFields[error.kind] ?? '']: text }, { reason: error.message });
  }
}

export function errorTextKey(t: PageRequest['t'], action: string, kind: string): string {
  const keys = [action, splitActionName(action).subject].map((name) => `operator.act.${name}.error.${kind}`);
  return keys.find((key) => t(key) !== key) ?? `operator.act.error.${kind}`;
}
