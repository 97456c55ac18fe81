import { giftSteps } from '#core/business/payments/gifts.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { createAction, revokeAction } from './actions.ts';
import { voucherCommand } from './command.ts';
import { redeemPage } from './redeem-page.ts';
import { batches, vouchers } from './resources.ts';

/** Codes that customers redeem for days: sold or given away elsewhere, or bought here as a gift. */
export const plugin: GatewayPlugin = {
  name: 'vouchers',
  register({ gateway }) {
    gateway.tables({
      name: 'voucher',
      entities: async () => Object.values(await import('./entities.ts')),
      steps: giftSteps.createRegistration(() => import('./gifts.ts')),
    });
    gateway.page(redeemPage);
    for (const action of [createAction, revokeAction]) gateway.action(action);
    for (const resource of [batches, vouchers]) gateway.resource(resource);
    gateway.command(voucherCommand);
  },
};
