import { longNames } from './long-names.ts';
import type { Reader, ScreenWorld } from './world.ts';

/** A page, or one of its states, as the screenshots and the audit visit it. */
export interface Screen {
  /** Base name of the file. */
  readonly name: string;
  readonly reader: Reader;
  readonly path: string;
  /** What must be on the page, so that an error page is not taken for it. */
  readonly shows: string;
  /** True for one that two pictures are enough of. */
  readonly isMinor: boolean;
}

/** Pages that look like others, and states of them. */
const minor = new Set(
  [
    'landing-signed-in sign-in docs buy-gift done-gift done-gift-redeemed operator-order-gift pay-expired pay-failed pay-wrong-amount receipt receipt-signed orders-empty key sign-ins delete consents account preferences contact',
    'home-empty home-ended model connect-windows connect-tool requests-errors requests-empty not-found',
    'operator-orders operator-order operator-flags operator-mails operator-accounts operator-account operator-account-buyer operator-outage operator-requests operator-request operator-heaviest operator-policy operator-sales operator-announcements operator-margins operator-books operator-month operator-receipts operator-receipt operator-data-requests operator-data-request',
    'operator-routes operator-probes operator-probe operator-balances operator-closed-keys operator-retirements operator-route-trends operator-health operator-configurations operator-canary operator-configuration',
  ].flatMap((names) => names.split(' ')),
);

/** Every page and state, in the order of a customer's first day. */
export function screensOf({
  orders,
  receipt,
  dataRequest,
  failover,
  customerId,
  buyerId,
}: Pick<ScreenWorld, 'orders' | 'receipt' | 'dataRequest' | 'failover' | 'customerId' | 'buyerId'>): readonly Screen[] {
  const screens: [name: string, reader: Reader, path: string, shows: string][] = [
    ['landing', 'visitor', '/', '.hero'],
    ['landing-signed-in', 'customer', '/', '.hero'],
    ['sign-in', 'visitor', '/sign-in', 'h1'],
    ['terms', 'visitor', '/terms', '.prose'],
    ['privacy', 'customer', '/privacy', '.prose'],
    ['contact', 'visitor', '/contact', '.prose'],
    ['buy', 'buyer', '/buy', '.buy'],
    ['buy-gift', 'buyer', '/buy?gift=1&days=30', '.buy'],
    ['redeem', 'buyer', '/redeem', 'form'],
    ['pay', 'buyer', `/orders/${orders.waiting}`, '#qr'],
    ['pay-expired', 'buyer', `/orders/${orders.expired}`, '#pay'],
    ['pay-failed', 'buyer', `/orders/${orders.failed}`, '#pay'],
    ['pay-wrong-amount', 'buyer', `/orders/${orders.wrong}`, '#pay'],
    ['done', 'buyer', `/orders/${orders.paid}/done`, 'main'],
    ['done-gift', 'buyer', `/orders/${orders.gift}/done`, '#pass-on-code'],
    ['done-gift-redeemed', 'buyer', `/orders/${orders.redeemed}/done`, '.flash.ok'],
    ['receipt', 'buyer', `/orders/${orders.paid}/receipt`, '.receipt'],
    ['receipt-stored', 'buyer', receipt.own, '.receipt'],
    ['receipt-signed', 'visitor', receipt.signed, '.receipt'],
    ['home', 'customer', '/dashboard', '.pass'],
    ['home-empty', 'newcomer', '/dashboard', '.pass'],
    ['home-ended', 'former', '/dashboard', '.flash.bad'],
    ['requests', 'customer', '/dashboard/requests', 'table'],
    ['request', 'customer', `/dashboard/requests/${failover}`, '.attempts'],
    ['requests-errors', 'customer', '/dashboard/requests?show=errors', 'table'],
    ['requests-empty', 'newcomer', '/dashboard/requests', '.empty'],
    ['models', 'customer', '/dashboard/models', 'table'],
    ['model', 'customer', '/dashboard/models/dp/claude-sonnet-5-5', '.uptimes'],
    ['try', 'customer', '/dashboard/try', '.composer'],
    ['connect', 'customer', '/dashboard/connect?system=linux', '.by-command'],
    ['connect-windows', 'customer', '/dashboard/connect?tool=all&system=windows', '.setup-steps'],
    ['connect-tool', 'customer', '/dashboard/connect?tool=cursor&system=linux', '.setup-steps'],
    ['orders', 'buyer', '/orders', 'table'],
    ['orders-empty', 'newcomer', '/orders', '.empty'],
    ['key', 'customer', '/account/key', 'h1'],
    ['sign-ins', 'customer', '/account/sign-ins', 'h1'],
    ['delete', 'customer', '/account/delete', 'h1'],
    ['data-requests', 'customer', '/account/data-requests', 'textarea'],
    ['consents', 'customer', '/account/consents', 'form'],
    ['account', 'customer', '/account', 'h1'],
    ['preferences', 'visitor', '/preferences', 'select'],
    ['docs', 'visitor', '/docs', 'h1'],
    ['status', 'visitor', '/status', '.day-bars'],
    ['operator', 'operator', '/operator', '.tile'],
    ['operator-orders', 'operator', '/operator/orders', 'table'],
    ['operator-order', 'operator', `/operator/orders/${orders.wrong}`, 'h1'],
    ['operator-order-gift', 'operator', `/operator/orders/${orders.gift}`, 'h1'],
    ['operator-margins', 'operator', '/operator/orders/margins?by=model', '.tile'],
    ['operator-books', 'operator', '/operator/orders/books?day=2026-11-22', 'h1'],
    ['operator-month', 'operator', '/operator/orders/books/month?month=2026-11', 'tfoot'],
    ['operator-receipts', 'operator', '/operator/receipts', 'table'],
    ['operator-receipt', 'operator', receipt.operator, '.receipt'],
    ['operator-data-requests', 'operator', '/operator/data-requests', 'table'],
    ['operator-data-request', 'operator', `/operator/data-requests/${dataRequest}/answer`, 'textarea'],
    ['operator-flags', 'operator', '/operator/flags', 'h1'],
    ['operator-mails', 'operator', '/operator/mails', 'h1'],
    ['operator-accounts', 'operator', '/operator/accounts', 'table'],
    ['operator-account', 'operator', `/operator/accounts/${customerId}`, 'h1'],
    ['operator-heaviest', 'operator', '/operator/accounts/heaviest?span=7d', 'table'],
    ['operator-policy', 'operator', '/operator/accounts/heaviest?span=7d&by=policy', 'table'],
    ['operator-sales', 'operator', '/operator/orders/places', 'h1'],
    ['operator-announcements', 'operator', '/operator/announcements/new', 'textarea'],
    ['operator-outage', 'operator', '/operator/accounts/outage?since=2020-01-01T00:00&until=2040-01-01T00:00', 'table'],
    ['operator-requests', 'operator', '/operator/requests', 'table'],
    ['operator-request', 'operator', `/operator/requests/${failover}`, '.attempts'],
    ['operator-routes', 'operator', '/operator/routes', 'table'],
    ['operator-probes', 'operator', '/operator/probes', 'table'],
    ['operator-probe', 'operator', `/operator/probes/route?route=other/${longNames.backup}`, 'table'],
    ['operator-balances', 'operator', '/operator/balances', 'h1'],
    ['operator-closed-keys', 'operator', '/operator/closed-keys', 'h1'],
    ['operator-retirements', 'operator', '/operator/retirements', 'h1'],
    ['operator-route-trends', 'operator', `/operator/route-trends?route=other/${longNames.backup}`, 'h2'],
    ['operator-health', 'operator', '/operator/health', 'h1'],
    ['operator-configurations', 'operator', '/operator/configuration', 'table'],
    ['operator-canary', 'operator', '/operator/configuration/canary', 'table'],
    ['operator-configuration', 'operator', '/operator/configuration/1', 'textarea'],
    ['operator-account-buyer', 'operator', `/operator/accounts/${buyerId}?done=account.add_days`, '.flash'],
    ['not-found', 'visitor', '/nothing', 'h1'],
  ];
  return screens.map(([name, reader, path, shows]) => ({
    name,
    reader,
    path,
    shows,
    isMinor: minor.has(name),
  }));
}
