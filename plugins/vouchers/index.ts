import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { voucherCommand } from './command.ts';
import { redeemPage } from './redeem-page.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Days that are sold or given away elsewhere, as codes that customers redeem. */
export const plugin: GatewayPlugin = {
  name: 'vouchers',
  register({ gateway }) {
    gateway.texts(defineTexts({ en, id }));
    gateway.page(redeemPage);
    gateway.command(voucherCommand);
  },
};
