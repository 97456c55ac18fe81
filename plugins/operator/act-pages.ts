import { listIdentities } from '#core/business/accounts/identity-links.ts';
import { listMails } from '#core/business/mail/mails.ts';
import { actionKind } from '#core/business/operator-actions/actions.ts';
import type { OperatorAction } from '#core/business/operator-actions/operator-actions.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { findOrderOfRefund } from '#core/business/payments/refunds.ts';
import { nameOfAccount } from '#core/web/pages/account-name.ts';
import { FieldErrors, type Page, type PageRequest } from '#core/web/pages/page.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { requireAccount } from './accounts/account-page.ts';
import { type ActionDefinition, type ActionQuestion, actionPage, choiceOf, lineOf, slugOf } from './action-page.ts';
import { requireAnnouncement } from './announcements/form-page.ts';
import { announcementsPath } from './announcements/list-page.ts';
import { requireOrder } from './orders/order-page.ts';
import { signInName } from './tell-action.ts';

/** What a page needs to know of what it is about. */
interface Subject {
  readonly id: string;
  readonly name: string;
  /** Of its page. */
  readonly path: string;
}

async function accountSubject(request: PageRequest): Promise<Subject> {
  const account = await requireAccount(request);
  return { id: account.id, name: nameOfAccount(account, request.t), path: `/operator/accounts/${account.id}` };
}

async function orderSubject(request: PageRequest): Promise<Subject> {
  const { id, code } = await requireOrder(request);
  return { id, name: code, path: `/operator/orders/${code}` };
}

async function refundSubject({ host, params }: PageRequest): Promise<Subject> {
  const key = params['key'] ?? '';
  const orderId = await findOrderOfRefund(host.database, key);
  const order = orderId === undefined ? undefined : await readOrder(host.database, { id: orderId });
  if (order !== undefined) return { id: key, name: key, path: `/operator/orders/${order.code}` };
  throw new PageError(404, 'operator.order_unknown', {
    action: { path: '/operator/orders', label: 'operator.orders' },
  });
}

async function mailSubject({ host, params, t }: PageRequest): Promise<Subject> {
  const id = params['id'] ?? '';
  const [mail] = /^\d{1,18}$/.test(id) ? await listMails(host.database, { id }, 1) : [];
  if (mail === undefined)
    throw new PageError(404, 'operator.mail_unknown', { action: { path: '/operator/mails', label: 'operator.mails' } });
  const { order, accountId, event } = mail;
  return {
    id,
    name: order === undefined ? t(`operator.mail.${event}`) : `${t(`operator.mail.${event}`)} (${order})`,
    path: order === undefined ? `/operator/accounts/${accountId}` : `/operator/orders/${order}`,
  };
}

async function announcementSubject(request: PageRequest): Promise<Subject> {
  const { id, text } = await requireAnnouncement(request);
  return { id, name: text[request.language], path: announcementsPath };
}

/** Where an action is asked about, and what it is about. */
interface SubjectPage {
  readonly path: string;
  find(request: PageRequest): Promise<Subject>;
  /** Where the browser goes when it is done; default: to its page. */
  readonly next?: string;
}

const subjects = {
  account: { path: '/operator/accounts/{id}', find: accountSubject },
  order: { path: '/operator/orders/{code}', find: orderSubject },
  // Ended, it has no page.
  announcement: { path: `${announcementsPath}/{id}`, find: announcementSubject, next: announcementsPath },
  refund: { path: '/operator/refunds/{key}', find: refundSubject },
  mail: { path: '/operator/mails/{id}', find: mailSubject },
} as const;

/** The page of an action whose description says all that it asks for. */
function pageOf(
  action: OperatorAction['action'],
  { isDanger = false, ...more }: { readonly isDanger?: boolean } & Pick<ActionDefinition, 'errors' | 'words'> = {},
): Page {
  const kind = actionKind(action);
  const { properties, required = [] } = kind.input;
  const key = `operator.act.${action}`;
  const { path, find, next } = subjects[kind.subject as keyof typeof subjects] as SubjectPage;
  return actionPage({
    path: `${path}/${slugOf(action)}`,
    title: key,
    action,
    ...more,
    async ask(request) {
      const { t } = request;
      const subject = await find(request);
      const line = lineOf(kind);
      return {
        question: t(`${key}.question`, { subject: subject.name }),
        text: t(`${key}.text`),
        facts: [],
        label: t(key),
        isDanger,
        back: subject.path,
        note: properties['note'] && {
          label: t('operator.reason'),
          hint: t('operator.act.note_hint'),
          isOptional: !required.includes('note'),
        },
        ...(properties['days'] !== undefined && {
          days: { label: t('operator.days_column'), hint: t('operator.days_hint') },
        }),
        ...(line !== undefined && {
          line: { label: t(`${key}.${line}`), hint: t(`${key}.${line}_hint`), isOptional: !required.includes(line) },
        }),
        ...(await choicesOf(request, choiceOf(kind), subject.id)),
      };
    },
    subject: async (request) => (await find(request)).id,
    next: async (request) => (next === undefined ? (await find(request)).path : next),
  });
}

async function choicesOf(
  { host, t }: PageRequest,
  name: ReturnType<typeof choiceOf>,
  id: string,
): Promise<Pick<ActionQuestion, 'choice'>> {
  if (name === undefined) return {};
  if (name === 'as') {
    // Neither is a default: one takes days back, and the other lets the money go back once more.
    const options = ['', 'done', 'failed'].map((value) => ({
      value,
      label: t(value === '' ? 'operator.choose' : `operator.refund_state.${value}`),
    }));
    return { choice: { label: t('operator.outcome'), hint: '', options } };
  }
  const signIns = await listIdentities(host.database, id);
  const options = signIns.map(({ provider, email, name: who }) => ({
    value: provider,
    label: `${signInName(provider, t)} (${email ?? who})`,
  }));
  return { choice: { label: t('operator.signs_in'), hint: '', options } };
}

/** Pages of actions that no other page asks about. */
export const actPages: readonly Page[] = [
  pageOf('account.add_days', {
    errors: { too_many_days: ['days', 'operator.days_too_many'] },
    words({ days, line, note }) {
      if (days === 0) throw new FieldErrors({ days: 'operator.days_zero' });
      return { days, ...(line !== '' && { label: line }), note };
    },
  }),
  pageOf('account.note'),
  pageOf('account.change_email'),
  pageOf('account.move_sign_in', { isDanger: true }),
  pageOf('account.remove_sign_in', { isDanger: true }),
  pageOf('account.block', { isDanger: true }),
  pageOf('account.unblock'),
  pageOf('account.delete', { isDanger: true, errors: { not_confirmed: ['line', 'operator.act.error.not_confirmed'] } }),
  pageOf('order.check'),
  pageOf('order.cancel', { isDanger: true }),
  pageOf('refund.close', {
    words({ choice, note }) {
      if (choice !== 'done' && choice !== 'failed') throw new FieldErrors({ choice: 'form.required' });
      return { as: choice, note };
    },
  }),
  pageOf('mail.send_again'),
  pageOf('announcement.end', { isDanger: true }),
];
