import { type ActionKind, partsOf } from '#core/business/operator-actions/action-kind.ts';
import { FieldErrors, type Page, type PageRequest } from '../pages/page.ts';
import { describeFields, type FieldWishes } from './action-fields.ts';
import { type ActionForm, actionForm, type SentFields } from './action-page.ts';

/** The subject's data for the page of an action. Texts are ready to be printed. */
export interface PageSubject {
  /** '' for an action without a subject. */
  readonly id: string;
  readonly name: string;
  /** Of its page: the next one, and the target of "Cancel". */
  readonly path: string;
  /** Facts about it. */
  readonly facts?: readonly { readonly name: string; readonly value: string; readonly path?: string }[];
  /** The heading, and below it the effects of the action; default: the texts of its name. */
  readonly question?: string;
  readonly text?: string;
  readonly fields?: FieldWishes;
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
    styles: ['operator.css', 'tables.css'],
    async show(request) {
      const { t, query, form: rejected } = request;
      const said = { ...query, ...rejected.values };
      const subject = await find(request, said);
      return {
        question: subject.question ?? t(`${key}.question`, { subject: subject.name }),
        text: subject.text ?? t(`${key}.text`),
        facts: subject.facts ?? [],
        label: t(key),
        isDanger: action.isDanger === true,
        back: subject.path,
        other: subject.other,
        sent: sent.map((name) => ({ name, value: said[name] ?? '' })),
        rows: describeFields(request, action, { ...notAsked, ...subject.fields }),
      };
    },
    forms: [
      actionForm(action, {
        ...form,
        known,
        sent,
        async subject(request, fields) {
          const subject = await find(request, fields);
          requireFields(subject.fields ?? {}, fields);
          return subject;
        },
      }),
    ],
  };
}

/** @throws FieldErrors for a field that only this subject needs */
function requireFields(wishes: FieldWishes, fields: SentFields): void {
  for (const [name, wish] of Object.entries(wishes))
    if (wish !== false && wish.isRequired === true && fields[name] === undefined)
      throw new FieldErrors({ [name]: 'form.required' });
}
