import { type ActionKind, partsOf } from '#core/business/operator-actions/action-kind.ts';
import { isActionError, runAction } from '#core/business/operator-actions/actions.ts';
import type { ActionWords } from '#core/business/operator-actions/operator-actions.ts';
import { accountOf, FieldErrors, type PageForm, type PageRequest, Redirect } from '../pages/page.ts';
import { type FieldWishes, fieldSchema, offeredFields, readInput } from './action-fields.ts';
import { tellDone } from './tell-action.ts';

/** What a browser has sent, by field. */
export type SentFields = Readonly<Record<string, string | undefined>>;

interface FormSubject {
  readonly id: string;
  readonly path: string;
  /** What its form shows: a member that it does not offer is not taken, whatever a browser sends. */
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
  /** The handle of its subject, and the page of it, which is next; default: none. @throws PageError, FieldErrors */
  subject?(request: PageRequest, sent: SentFields): Promise<FormSubject>;
  /** Refuses an input by what its schema does not say. @throws FieldErrors */
  check?(input: ActionWords, request: PageRequest): void;
  /** Next page after success, where that is not the subject's. */
  next?(result: ActionWords, sent: SentFields): string;
}

/** Confirmation on the page that follows an action; '' without one. */
export function describeDone({ query, t }: Pick<PageRequest, 'query' | 't'>): string {
  const action = query['done'] ?? '';
  const text = tellDone(action, t);
  return text === action ? '' : t('operator.done_now', { action: text });
}

/** The form of an action, which records who has done it. What it asks is described by `describeFields`. */
export function actionForm(action: ActionKind, form: ActionForm): PageForm {
  const { path, known = [], sent = [], errors, subject, check, next } = form;
  return {
    ...(path !== undefined && { path }),
    fields: fieldSchema(action.input, known, sent),
    once: true,
    async submit(fields, request) {
      const about = await subject?.(request, fields as SentFields);
      const given = Object.fromEntries(known.map((name) => [name, request.params[name]]));
      const offered = offeredFields(fields as ActionWords, about?.fields);
      const input = await readInput(action.input, { ...offered, ...given }, request);
      check?.(input, request);
      const result = await act(request, action, about?.id ?? '', input, errors);
      return new Redirect(next?.(result, fields as SentFields) ?? `${about?.path}?done=${action.name}`);
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
