import { type ActionKind, partsOf } from '#core/business/operator-actions/action-kind.ts';
import type { Page, PageRequest } from '../pages/page.ts';
import type { PageFact } from '../resources/field.ts';
import { describeFields } from './action-fields.ts';
import { type ActionForm, actionForm, type FormSubject, type SentFields } from './action-page.ts';

/** The subject's data for the page of an action. Texts are ready to be printed. */
export interface PageSubject extends FormSubject {
  readonly name: string;
  /** Facts about it. */
  readonly facts?: readonly PageFact[];
  /** The heading, and below it the effects of the action; default: the texts of its name. */
  readonly question?: string;
  readonly text?: string;
  /** Link to the page of another action on the same thing. */
  readonly other?: { readonly path: string; readonly label: string };
}

/** Path for confirming an action, and its subject. */
export interface SubjectPage {
  /** Below it, the action has its page. */
  readonly path: string;
  /** @param sent what the form or the address says, by name @throws PageError */
  find(request: PageRequest, sent: SentFields): PageSubject | Promise<PageSubject>;
}

/** What does not follow from the description of an action. */
type PlainPageWords = Pick<ActionForm, 'errors' | 'check' | 'sent'> & {
  /** Of the page; default: the action's own, below that of its subject. */
  readonly path?: string;
  /** Key of the title; default: that of the button. */
  readonly title?: string;
};

/**
 * The page of an action: it asks whether, with the fields that follow from the schema of its input. Its texts are `operator.act.NAME`, for
 * the button, with `.question` and `.text`, and those of the fields (`describeFields`). A member that has the name of a parameter of the
 * path is not asked for.
 */
export function plainPage(action: ActionKind, { path: below, find }: SubjectPage, words: PlainPageWords = {}): Page {
  const key = `operator.act.${action.name}`;
  const { path = `${below}/${partsOf(action.name).verb}`, title = key, sent = [], ...form } = words;
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
