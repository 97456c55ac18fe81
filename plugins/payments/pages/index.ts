import type { Server } from '@hapi/hapi';
import { defineTexts } from '#core/web/texts/texts.ts';
import { createBuyPage } from './buy.ts';
import { createDonePage } from './done.ts';
import { ordersPage } from './orders.ts';
import { cancelPage, payPage } from './pay.ts';
import { qrDownload } from './qr-download.ts';
import { receiptPage } from './receipt.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

export function registerPages({ gateway }: Pick<Server, 'gateway'>): void {
  gateway.texts(defineTexts({ en, id }));
  for (const page of [
    createBuyPage(gateway),
    payPage,
    cancelPage,
    qrDownload,
    createDonePage(gateway),
    ordersPage,
    receiptPage,
  ])
    gateway.page(page);
}
