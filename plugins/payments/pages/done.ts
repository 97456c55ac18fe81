import { join } from 'node:path';
import { revealKey } from '#core/accounts/account-key.ts';
import { type AccountRecord, activePeriod, readAccounts } from '#core/accounts/account-record.ts';
import type { Order } from '#core/payments/order.ts';
import { accountOf, defineForm, type Page, type PageRequest, Redirect } from '#core/pages/page.ts';
import { ownOrder, pathOf, withContact } from './order-view.ts';

/** Shows the key that nobody has seen. The answer is the only place where it is written. */
const keyForm = defineForm({
  path: '/orders/{code}/key',
  fields: { type: 'object' },
  async submit(_input, request) {
    const { database, service } = request.host;
    const issued = await revealKey(database, service.prefix, accountOf(request).id);
    return issued === undefined ? {} : { key: issued.key };
  },
});

/** What a paid order has brought: until when, the key, and how to use it. */
export const donePage: Page = {
  path: '/orders/{code}/done',
  role: 'account',
  title: 'payments.done.title',
  template: join(import.meta.dirname, '..', '..', '..', 'views', 'done.eta'),
  styles: ['payments.css'],
  scripts: ['payments.js'],
  async show(request) {
    const order = await ownOrder(request);
    if (order.state !== 'paid' && order.state !== 'refunded') return new Redirect(pathOf(order));
    const [account] = await readAccounts(request.host.database, 'id', [order.accountId]);
    const model = request.host.catalog.models[0]?.publicName ?? `${request.host.service.prefix}/MODEL`;
    return {
      code: order.code,
      key: '',
      hint: account?.key?.hint ?? '',
      isKeyShown: account?.key?.isShown === true,
      isRefunded: order.state === 'refunded',
      isLate: order.isLate,
      ...describePass(order, account, request),
      second: describeSecond(order, request),
      refunded: request.t('payments.done.refunded_more', { price: request.format.money(order.price, order.currency) }),
      baseUrl: request.host.service.baseUrl,
      model,
    };
  },
  forms: [keyForm],
};

/** Active now, or added behind the current pass; until when all of it lasts. */
function describePass({ days, period, readAt }: Order, account: AccountRecord | undefined, { t, format }: PageRequest) {
  const isAdded = period !== undefined && period.startsAt > readAt;
  const active = account === undefined ? undefined : activePeriod(account, account.readAt);
  const endsAt = active?.endsAt ?? period?.endsAt;
  return {
    paid: t(isAdded ? 'payments.done.added' : 'payments.done.paid', { count: days }),
    until: endsAt === undefined ? '' : t('payments.done.until', { time: format.time(endsAt).text }),
  };
}

/** Money that came a second time, and whom to write to; undefined when the operator has returned it. */
function describeSecond({ code, flags, payments }: Order, request: PageRequest): string | undefined {
  if (!flags.some(({ kind, resolvedAt }) => kind === 'second_payment' && resolvedAt === undefined)) return undefined;
  const second = payments.findLast(({ outcome }) => outcome === 'second');
  const paid = second === undefined ? '' : request.format.money(second.amount, second.currency);
  return withContact(request, ['payments.done.second_more', 'payments.done.second_no_contact'], { paid, code });
}
