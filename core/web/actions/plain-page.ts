import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import type { Page, PageRequest } from '../pages/page.ts';
import { type ActionField, type ActionPage, type ActionQuestion, actionPage, lineOf, slugOf } from './action-page.ts';

/** The subject's data for a page. */
export interface PageSubject {
  readonly id: string;
  readonly name: string;
  /** Of its page. */
  readonly path: string;
  /** Facts about it. */
  readonly facts?: ActionQuestion['facts'];
}

/** Path for confirming an action, and its subject. */
export interface SubjectPage {
  readonly path: string;
  /** @throws PageError */
  find(request: PageRequest): Promise<PageSubject>;
  /** Next page after success; default: the subject's page. */
  readonly next?: string;
}

/**
 * The page of an action whose description says all that it asks for. Its texts are `operator.act.NAME`, for the button, with `.question`
 * and `.text`, and with `.MEMBER` and `.MEMBER_hint` where it asks for a line of text.
 *
 * @param more a choice between some ways to do it, where its input has one
 */
export function plainPage(
  action: ActionKind,
  { path, find, next }: SubjectPage,
  {
    choice,
    ...more
  }: Pick<ActionPage, 'errors' | 'words'> & {
    choice?(request: PageRequest, id: string): Promise<ActionField>;
  } = {},
): Page {
  const { properties, required = [] } = action.input;
  const key = `operator.act.${action.name}`;
  const line = lineOf(action);
  return actionPage({
    path: `${path}/${slugOf(action.name)}`,
    title: key,
    action,
    ...more,
    async ask(request) {
      const { t } = request;
      const subject = await find(request);
      const chosen = await choice?.(request, subject.id);
      const textField = (name: 'line' | 'note', label: string, hint: string, member: string = name): ActionField => ({
        name,
        label: t(label),
        hint: t(hint),
        isOptional: !required.includes(member),
      });
      return {
        question: t(`${key}.question`, { subject: subject.name }),
        text: t(`${key}.text`),
        facts: subject.facts ?? [],
        label: t(key),
        isDanger: action.isDanger === true,
        back: subject.path,
        fields: [
          ...(properties['days'] === undefined
            ? []
            : [{ name: 'days' as const, label: t('operator.days_column'), hint: t('operator.days_hint') }]),
          ...(chosen === undefined ? [] : [chosen]),
          ...(line === undefined ? [] : [textField('line', `${key}.${line}`, `${key}.${line}_hint`, line)]),
          ...(properties['note'] === undefined ? [] : [textField('note', 'operator.reason', 'operator.act.note_hint')]),
        ],
      };
    },
    subject: async (request) => (await find(request)).id,
    next: async (request) => (next === undefined ? (await find(request)).path : next),
  });
}
