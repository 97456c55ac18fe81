import { type ActionKind, splitActionName } from '#core/business/operator-actions/action-kind.ts';
import { isActionError } from '#core/business/operator-actions/actions.ts';
import { notFound } from '../pages/page-error.ts';
import type { Page, PageRequest } from '../pages/page.ts';
import type { PageFact } from '../resources/field.ts';
import { describeFields } from './action-fields.ts';
import { type ActionForm, createActionForm, errorTextKey, type FormSubject, type SentFields } from './action-page.ts';

/** Subject of an action, as its page shows it. Texts are in the reader's language. */
export interface PageSubject extends FormSubject {
  readonly name: string;
  readonly facts?: readonly PageFact[];
  /** Heading, followed by the effect of the action; default: the texts under the action's name. */
  readonly question?: string;
  readonly text?: string;
  /** Link to the page of another action on the same subject. */
  readonly other?: { readonly path: string; readonly label: string };
}

/** Parent of an action's page, and the lookup of its subject. */
export interface SubjectPage {
  /**
   * Parent path of the action's page. Without `find`, the path of a list, which opens after success and to which subject ids are appended.
   */
  readonly path: string;
  /** Text key for the name of the list, which is linked if there is no such subject. */
  readonly label?: string;
  /**
   * Finds the subject; default: by the `id` in the path, as commands and the API do. `sent` contains form fields or query parameters by
   * name. Throws PageError.
   */
  find?(request: PageRequest, sent: SentFields): PageSubject | Promise<PageSubject>;
}

type PlainPageSettings = Pick<ActionForm, 'errors' | 'check' | 'sent'> & {
  /** Path of the page; default: the action's verb below the subject's path (`PATH/{id}` if there is no `find`). */
  readonly path?: string;
  /** Text key for the title; default: the button's. */
  readonly title?: string;
};

/**
 * Creates the confirmation page for an action, with fields derived from the schema of its input. Its texts are `operator.act.NAME` for the
 * button, the same key with `.question` and `.text`, and the texts for the fields (`describeFields`). Members that are parameters of the
 * path get no field.
 */
export function plainPage(action: ActionKind, parent: SubjectPage, settings: PlainPageSettings = {}): Page {
  const key = `operator.act.${action.name}`;
  const { find = (request) => findByAction(action, parent, request) } = parent;
  const hasId = parent.find === undefined && action.subject.find !== undefined;
  const defaultPath = `${parent.path}${hasId ? '/{id}' : ''}/${splitActionName(action.name).verb}`;
  const { path = defaultPath, title = key, sent = [], ...form } = settings;
  const pathMembers = Object.keys(action.input.properties).filter((name) => path.includes(`{${name}}`));
  const omittedFields = Object.fromEntries(pathMembers.map((name) => [name, false as const]));
  return {
    path,
    role: 'operator',
    title,
    template: 'parts/action.eta',
    async show(request) {
      const { t, query, form: submitted } = request;
      const sentValues = { ...query, ...submitted.values };
      const subject = await find(request, sentValues);
      return {
        question: t(`${key}.question`, { subject: subject.name }),
        text: t(`${key}.text`),
        facts: [],
        ...subject,
        label: t(key),
        isDanger: action.isDanger === true,
        back: subject.path,
        sent: sent.map((name) => ({ name, value: sentValues[name] ?? '' })),
        rows: describeFields(request, action, { ...omittedFields, ...subject.fields }),
      };
    },
    forms: [createActionForm(action, { ...form, pathMembers, sent, find })],
  };
}

async function findByAction(
  { name, subject: kind }: ActionKind,
  { path, label }: SubjectPage,
  { host, params, t }: PageRequest,
): Promise<PageSubject> {
  if (kind.find === undefined) return { id: '', name: '', path };
  try {
    const subject = await kind.find(host, params['id'] ?? '');
    return { id: subject.id, name: subject.label ?? subject.id, path };
  } catch (error) {
    if (!isActionError(error) || error.kind !== 'not_found') throw error;
    return notFound(errorTextKey(t, name, error.kind), label === undefined ? undefined : { path, label });
  }
}
