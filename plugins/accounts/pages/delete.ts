import { readAccounts } from '#core/business/accounts/account-record.ts';
import { deleteAccount } from '#core/business/accounts/deletion.ts';
import { cancelOrder } from '#core/business/payments/checkout.ts';
import { hasOpenCode } from '#core/business/payments/order-codes.ts';
import { listOrders, type Order, computeRefundable } from '#core/business/payments/order.ts';
import { loadReceiptSteps } from '#core/business/payments/receipts.ts';
import { formatContact } from '#core/gateway/host/contact.ts';
import { object, string } from '#core/platform/schema.ts';
import { accountOf, defineForm, FieldErrors, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';

const path = '/account/delete';
const deletedPath = '/account-deleted';
const maxRecentOrders = 50; // an account has few open orders

function getConfirmationPhrase(request: PageRequest): string {
  const { email, name } = accountOf(request);
  return email ?? name;
}

const deleteForm = defineForm({
  fields: object(['confirmation'], { confirmation: string({ maxLength: 400 }) }),
  async submit({ confirmation }, request) {
    const { host } = request;
    const { id } = accountOf(request);
    if (confirmation.trim().toLowerCase() !== getConfirmationPhrase(request).trim().toLowerCase())
      throw new FieldErrors({ confirmation: 'accounts.delete.mismatch' });
    // Cancelled charges cannot be paid. A payment that arrives anyway is flagged for the operator.
    for (const order of (await readOrders(request)).filter(isOpen)) await cancelOrder(host, order.id);
    await deleteAccount(host.database, id);
    await request.signOut();
    return new Redirect(deletedPath);
  },
});

export const deletePage: Page = {
  path,
  role: 'account',
  title: 'accounts.delete.title',
  navigation: { label: 'accounts.delete.title', icon: 'trash', order: 90, place: 'menu' },
  template: 'accounts/delete.eta',
  async show(request) {
    const orders = await readOrders(request);
    const years = (await loadReceiptSteps(request.host.database))?.readRetentionYears(request.host);
    return {
      kept: years === undefined ? '' : request.t('accounts.delete.kept_receipts', { count: years }),
      phrase: getConfirmationPhrase(request),
      hasEmail: accountOf(request).email !== undefined,
      time: await describeRemainingTime(request),
      orders: orders.flatMap((order) => describeDeletionEffects(order, request)),
    };
  },
  forms: [deleteForm],
};

/** The reader no longer has an account. */
export const deletedPage: Page = {
  path: deletedPath,
  role: 'public',
  layout: 'plain',
  title: 'accounts.deleted.title',
  template: 'accounts/deleted.eta',
  show: () => ({}),
};

async function describeRemainingTime(request: PageRequest): Promise<string | undefined> {
  const { host, t, format } = request;
  const [account] = await readAccounts(host.database, 'id', [accountOf(request).id]);
  const ends = (account?.periods ?? []).map(({ endsAt }) => endsAt.getTime());
  const end = Math.max(...ends);
  if (account === undefined || end <= account.readAt) return undefined;
  const { text } = format.remaining(end - account.readAt);
  return t('accounts.delete.time', { left: text, end: format.time(new Date(end)).text });
}

async function readOrders(request: PageRequest): Promise<readonly Order[]> {
  const { database } = request.host;
  return (await listOrders(database, { accountId: accountOf(request).id }, undefined, maxRecentOrders)).orders;
}

function isOpen({ state, expiresAt, readAt }: Order): boolean {
  return (state === 'created' || state === 'pending') && expiresAt > readAt;
}

function describeDeletionEffects(order: Order, { t, format, host }: PageRequest): string[] {
  const { code, price, currency, flags, payments } = order;
  const undecidedPayments = payments.flatMap((payment) => {
    const isFlagged = flags.some(
      ({ subject, resolvedAt }) => subject === payment.paymentId && resolvedAt === undefined,
    );
    const refundableAmount = isFlagged ? computeRefundable(order, payment) : 0;
    if (refundableAmount <= 0) return [];
    const amount = format.money(refundableAmount, payment.currency);
    const contact = formatContact(host.service);
    return contact === undefined
      ? t('accounts.delete.undecided_no_contact', { code, paid: amount })
      : t('accounts.delete.undecided', { code, paid: amount, contact });
  });
  if (undecidedPayments.length > 0) return undecidedPayments;
  if (hasOpenCode(order)) return [t('accounts.delete.code', { code })];
  return isOpen(order) ? [t('accounts.delete.order', { code, price: format.money(price, currency) })] : [];
}
