import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { paymentsSection } from '#core/payments/section.ts';
import { addPages } from './pages/index.ts';

/** Sells plans: takes orders and follows their payments. */
export const plugin: GatewayPlugin = {
  name: 'payments',
  register({ gateway }) {
    gateway.section(paymentsSection);
    addPages({ gateway });
  },
};
