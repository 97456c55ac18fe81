import { listIdentities } from '#core/business/accounts/identity-links.ts';
import { actionKind, isActionError } from '#core/business/operator-actions/actions.ts';
import type { OperatorAction } from '#core/business/operator-actions/operator-actions.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { requireAccount } from './accounts/account-page.ts';
import { actionPage, refusal } from './action-page.ts';
import { requireOrder } from './orders/order-page.ts';

/** What a page needs to know of the account or the order that it is about. */
interface Subject {
  readonly id: string;
  readonly name: string;
  /** Of its page. */
  readonly path: string;
}

async function accountSubject(request: PageRequest): Promise<Subject> {
  const { id, email, name } = await requireAccount(request);
  return { id, name: email ?? (name === '' ? id : name), path: `/operator/accounts/${id}` };
}

async function orderSubject(request: PageRequest): Promise<Subject> {
  const { id, code } = await requireOrder(request);
  return { id, name: code, path: `/operator/orders/${code}` };
}

/** The page of an action whose description says all that it asks for. */
function pageOf(action: OperatorAction['action'], isDanger = false): Page {
  const kind = actionKind(action);
  const { properties } = kind.input;
  const key = `operator.act.${action}`;
  const isAccount = kind.subject === 'account';
  const find = isAccount ? accountSubject : orderSubject;
  return actionPage({
    path: `/operator/${isAccount ? 'accounts/{id}' : 'orders/{code}'}/${slugOf(action)}`,
    title: key,
    action,
    needsNote: properties['note'] !== undefined,
    async ask(request) {
      const { t, host } = request;
      const { id, name, path } = await find(request);
      const signIns = properties['sign_in'] === undefined ? [] : await listIdentities(host.database, id);
      return {
        question: t(`${key}.question`, { subject: name }),
        text: t(`${key}.text`),
        facts: [],
        label: t(key),
        isDanger,
        back: path,
        note: properties['note'] && { label: t('operator.reason'), hint: t('operator.act.note_hint') },
        ...(properties['to'] !== undefined && { line: { label: t(`${key}.to`), hint: t(`${key}.to_hint`) } }),
        ...(properties['sign_in'] !== undefined && {
          choice: {
            label: t('operator.signs_in'),
            hint: '',
            options: signIns.map(({ provider, email, name: who }) => ({
              value: provider,
              label: `${provider} (${email ?? who})`,
            })),
          },
        }),
      };
    },
    subject: async (request) => (await find(request)).id,
    async perform(request, { note, line, choice }, id) {
      try {
        await kind.perform(request.host, id, { note, to: line, sign_in: choice });
        return (await find(request)).path;
      } catch (error) {
        if (!isActionError(error)) throw error;
        throw refusal({ '': `operator.act.error.${error.kind}` }, error.message);
      }
    },
  });
}

/** The last part of its path. */
export function slugOf(action: string): string {
  return action.slice(action.indexOf('.') + 1).replaceAll('_', '-');
}

/** Pages of actions that no other page asks about. */
export const actPages: readonly Page[] = [
  pageOf('account.note'),
  pageOf('account.change_email'),
  pageOf('account.remove_sign_in', true),
  pageOf('account.move_sign_in', true),
  pageOf('order.check'),
  pageOf('order.cancel', true),
];
