import { qrisAmountLimits } from '#core/business/payments/qris.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { connectXendit } from './connection.ts';
import { checkXendit, xenditSection } from './section.ts';

/** QRIS payments through Xendit's Payments API v3. */
export const plugin: GatewayPlugin = {
  name: 'xendit',
  register({ gateway }) {
    gateway.section(xenditSection);
    gateway.paymentProvider({
      name: 'xendit',
      title: 'Xendit',
      currencies: ['IDR'],
      amounts: qrisAmountLimits,
      check: checkXendit,
      connect: connectXendit,
    });
  },
};
