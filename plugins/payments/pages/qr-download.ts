import { findSimulationCommand } from '#core/business/payments/connections.ts';
import { determineOrderView } from '#core/business/payments/order-view.ts';
import type { Order } from '#core/business/payments/order.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { Download, type Page, type PageRequest } from '#core/web/pages/page.ts';
import { drawQrImage, toAscii } from '../qr-image/qr-image.ts';
import { loadQrisLogo } from '../qr-image/qris-logo.ts';
import { readReceiver } from './describe-pay.ts';
import { readOwnOrder } from './order-view.ts';

export const qrDownload: Page = {
  path: '/orders/{code}/qr.png',
  role: 'account',
  title: 'payments.pay.title',
  async show(request) {
    const order = await readOwnOrder(request);
    const qr = determineOrderView(order) === 'waiting' ? order.attempt?.qr : undefined;
    if (qr === undefined || findSimulationCommand(request.host, order) !== undefined)
      throw new PageError(404, 'payments.pay.no_qr');
    const image = await drawQrImage(qr, {
      ...describeImageTexts(order, qr, request),
      logo: await loadQrisLogo(request.host),
    });
    return new Download(`${request.host.service.slug}-${order.code}.png`, 'image/png', image);
  },
};

function describeImageTexts({ code, attempt, price, currency, expiresAt }: Order, qr: string, request: PageRequest) {
  const { t, format } = request;
  const { name, nmid } = readReceiver(qr, request);
  return {
    title: toAscii(name),
    amount: toAscii(format.money(attempt?.amount ?? price, currency)),
    lines: [
      ...(nmid === '' ? [] : [toAscii(t('payments.pay.nmid', { nmid }))]),
      toAscii(t('payments.image.order', { code })),
      toAscii(t('payments.image.before', { time: format.time(expiresAt).text })),
    ],
  };
}
