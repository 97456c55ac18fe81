import { type ActionKind, splitActionName } from '#core/business/operator-actions/action-kind.ts';
import type { Page, PageRequest } from '../pages/page.ts';
import type { PageFact } from '../resources/field.ts';
import { describeFields } from './action-fields.ts';
import { type ActionForm, actionForm, type FormSubject, type SentFields } from './action-page.ts';

/** The subject's data for the page of an action. Texts are ready to be printed. */
export interface PageSubject extends FormSubject {
  readonly name: string;
  /** Facts about the subject. */
  readonly facts?: readonly PageFact[];
  /** Heading, and the effects of the action below it; default: the texts of the action's name. */
  readonly question?: string;
  readonly text?: string;
  /** Link to another action's page for the same subject. */
  readonly other?: { readonly path: string; readonly label: string };
}

/** Parent path of an action's page, and its subject. */
export interface SubjectPage {
  /** Parent path of the action's page. */
  readonly path: string;
  /** @param sent form fields or query parameters, by name @throws PageError */
  find(request: PageRequest, sent: SentFields): PageSubject | Promise<PageSubject>;
}

/** Page settings that do not follow from the action's description. */
type PlainPageWords = Pick<ActionForm, 'errors' | 'check' | 'sent'> & {
  /** Path of the page; default: the action's verb below the subject's path. */
  readonly path?: string;
  /** Key of the title; default: the key of the button. */
  readonly title?: string;
};

/**
 * The confirmation page of an action, with the fields that follow from the schema of its input. Its texts are `operator.act.NAME` for the
 * button, the same key with `.question` and `.text`, and the texts of the fields (`describeFields`). The form has no field for a member
 * that is a parameter of the path.
 */
export function plainPage(action: ActionKind, { path: below, find }: SubjectPage, words: PlainPageWords = {}): Page {
  const key = `operator.act.${action.name}`;
  const { path = `${below}/${splitActionName(action.name).verb}`, title = key, sent = [], ...form } = words;
  const known = Object.keys(action.input.properties).filter((name) => path.includes(`{${name}}`));
  const notAsked = Object.fromEntries(known.map((name) => [name, false as const]));
  return {
    path,
    role: 'operator',
    title,
    template: 'parts/action.eta',
    async show(request) {
      const { t, query, form: rejected } = request;
      const said = { ...query, ...rejected.values };
      const subject = await find(request, said);
      return {
        question: t(`${key}.question`, { subject: subject.name }),
        text: t(`${key}.text`),
        facts: [],
        ...subject,
        label: t(key),
        isDanger: action.isDanger === true,
        back: subject.path,
        sent: sent.map((name) => ({ name, value: said[name] ?? '' })),
        rows: describeFields(request, action, { ...notAsked, ...subject.fields }),
      };
    },
    forms: [actionForm(action, { ...form, known, sent, find })],
  };
}
