import { listIdentities } from '#core/business/accounts/identity-links.ts';
import { getCoreAction } from '#core/business/operator-actions/actions.ts';
import { signInName } from '#core/business/operator-actions/member-describers.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { findOrderOfRefund } from '#core/business/payments/refunds.ts';
import { plainPage, type PageSubject, type SubjectPage } from '#core/web/actions/plain-page.ts';
import { formatAccountLabel } from '#core/web/pages/account-name.ts';
import { notFound } from '#core/web/pages/page-error.ts';
import { FieldErrors, type Page, type PageRequest } from '#core/web/pages/page.ts';
import { requireAccount } from './accounts/account-page.ts';
import { ordersLink, requireOrder } from './orders/order-page.ts';

async function findAccountSubject(request: PageRequest): Promise<PageSubject> {
  const account = await requireAccount(request);
  return { id: account.id, name: formatAccountLabel(account, request.t), path: `/operator/accounts/${account.id}` };
}

async function findOrderSubject(request: PageRequest): Promise<PageSubject> {
  const { id, code } = await requireOrder(request);
  return { id, name: code, path: `/operator/orders/${code}` };
}

async function findRefundSubject({ host, params }: PageRequest): Promise<PageSubject> {
  const key = params['key'] ?? '';
  const id = await findOrderOfRefund(host.database, key);
  const order = id === undefined ? id : await readOrder(host.database, { id });
  const { code } = order ?? notFound('operator.order_unknown', ordersLink);
  return { id: key, name: key, path: `/operator/orders/${code}` };
}

const accountPage: SubjectPage = { path: '/operator/accounts/{id}', find: findAccountSubject };
const signInPage: SubjectPage = { ...accountPage, find: findAccountWithSignIns };
const orderPage: SubjectPage = { path: '/operator/orders/{code}', find: findOrderSubject };
const refundPage: SubjectPage = { path: '/operator/refunds/{key}', find: findRefundSubject };

/** @throws PageError 404 if the account has no sign-ins */
async function findAccountWithSignIns(request: PageRequest): Promise<PageSubject> {
  const { host, t } = request;
  const subject = await findAccountSubject(request);
  const signIns = await listIdentities(host.database, subject.id);
  if (signIns.length === 0) notFound('operator.act.error.not_found', { path: subject.path, label: 'operator.account' });
  const options = signIns.map(({ provider, email, name: who }) => ({
    value: provider,
    label: `${signInName(provider, t)} (${email ?? who})`,
  }));
  return { ...subject, fields: { sign_in: { options } } };
}

/** Pages for the actions whose form is not part of another page. */
export const actPages: readonly Page[] = [
  plainPage(getCoreAction('account.add_days'), accountPage, {
    errors: { too_many_days: 'days' },
    check({ days }) {
      if (days === 0) throw new FieldErrors({ days: 'operator.days_zero' });
    },
  }),
  plainPage(getCoreAction('account.note'), accountPage),
  plainPage(getCoreAction('account.change_email'), accountPage),
  plainPage(getCoreAction('account.move_sign_in'), signInPage),
  plainPage(getCoreAction('account.remove_sign_in'), signInPage),
  plainPage(getCoreAction('account.block'), accountPage),
  plainPage(getCoreAction('account.unblock'), accountPage),
  plainPage(getCoreAction('account.resume'), accountPage),
  plainPage(getCoreAction('account.delete'), accountPage, { errors: { not_confirmed: 'confirm' } }),
  plainPage(getCoreAction('order.check'), orderPage),
  plainPage(getCoreAction('order.cancel'), orderPage),
  plainPage(getCoreAction('refund.close'), refundPage),
];
