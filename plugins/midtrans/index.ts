import { qrisAmountLimits } from '#core/business/payments/qris.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { connectMidtrans } from './connection.ts';
import { checkMidtrans, midtransSection } from './section.ts';

/** QRIS payments through the Core API of Midtrans. */
export const plugin: GatewayPlugin = {
  name: 'midtrans',
  register({ gateway }) {
    gateway.section(midtransSection);
    gateway.paymentProvider({
      name: 'midtrans',
      title: 'Midtrans',
      currencies: ['IDR'],
      amounts: qrisAmountLimits,
      check: checkMidtrans,
      connect: connectMidtrans,
    });
  },
};
