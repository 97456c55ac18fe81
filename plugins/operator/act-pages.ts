import { listIdentities } from '#core/business/accounts/identity-links.ts';
import { getCoreAction } from '#core/business/operator-actions/actions.ts';
import { signInName } from '#core/business/operator-actions/member-describers.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { findOrderOfRefund } from '#core/business/payments/refunds.ts';
import { nameOfAccount } from '#core/web/pages/account-name.ts';
import { plainPage, type PageSubject, type SubjectPage } from '#core/web/actions/plain-page.ts';
import { FieldErrors, type Page, type PageRequest } from '#core/web/pages/page.ts';
import { notFound } from '#core/web/pages/page-error.ts';
import { requireAccount } from './accounts/account-page.ts';
import { listOfOrders, requireOrder } from './orders/order-page.ts';

async function accountSubject(request: PageRequest): Promise<PageSubject> {
  const account = await requireAccount(request);
  return { id: account.id, name: nameOfAccount(account, request.t), path: `/operator/accounts/${account.id}` };
}

async function orderSubject(request: PageRequest): Promise<PageSubject> {
  const { id, code } = await requireOrder(request);
  return { id, name: code, path: `/operator/orders/${code}` };
}

async function refundSubject({ host, params }: PageRequest): Promise<PageSubject> {
  const key = params['key'] ?? '';
  const id = await findOrderOfRefund(host.database, key);
  const found = id === undefined ? id : await readOrder(host.database, { id });
  const { code } = found ?? notFound('operator.order_unknown', listOfOrders);
  return { id: key, name: key, path: `/operator/orders/${code}` };
}

const account: SubjectPage = { path: '/operator/accounts/{id}', find: accountSubject };
const signIn: SubjectPage = { ...account, find: accountWithSignIns };
const order: SubjectPage = { path: '/operator/orders/{code}', find: orderSubject };
const refund: SubjectPage = { path: '/operator/refunds/{key}', find: refundSubject };

/** @throws PageError 404 for an account without sign-ins */
async function accountWithSignIns(request: PageRequest): Promise<PageSubject> {
  const { host, t } = request;
  const subject = await accountSubject(request);
  const signIns = await listIdentities(host.database, subject.id);
  if (signIns.length === 0) notFound('operator.act.error.not_found', { path: subject.path, label: 'operator.account' });
  const options = signIns.map(({ provider, email, name: who }) => ({
    value: provider,
    label: `${signInName(provider, t)} (${email ?? who})`,
  }));
  return { ...subject, fields: { sign_in: { options } } };
}

/** Pages of actions whose form is on no other page. */
export const actPages: readonly Page[] = [
  plainPage(getCoreAction('account.add_days'), account, {
    errors: { too_many_days: 'days' },
    check({ days }) {
      if (days === 0) throw new FieldErrors({ days: 'operator.days_zero' });
    },
  }),
  plainPage(getCoreAction('account.note'), account),
  plainPage(getCoreAction('account.change_email'), account),
  plainPage(getCoreAction('account.move_sign_in'), signIn),
  plainPage(getCoreAction('account.remove_sign_in'), signIn),
  plainPage(getCoreAction('account.block'), account),
  plainPage(getCoreAction('account.unblock'), account),
  plainPage(getCoreAction('account.delete'), account, { errors: { not_confirmed: 'confirm' } }),
  plainPage(getCoreAction('order.check'), order),
  plainPage(getCoreAction('order.cancel'), order),
  plainPage(getCoreAction('refund.close'), refund),
];
