import { receiptSteps } from '#core/business/payments/receipts.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { companyStep } from './checkout.ts';
import { receiptJobs } from './jobs.ts';
import { createReceiptsPage } from './list-page.ts';
import { wakeNumbering } from './numbers.ts';
import { operatorReceiptPage, ownReceiptPage, signedReceiptPage } from './pages.ts';
import { receipts } from './resource.ts';
import { sellerSection } from './section.ts';

/** Receipts that are stored with the payment, never change, and have sequential numbers. */
export const plugin: GatewayPlugin = {
  name: 'receipts',
  register({ gateway }) {
    gateway.section(sellerSection);
    gateway.tables({
      name: 'receipt',
      entities: async () => Object.values(await import('./entities.ts')),
      steps: receiptSteps.createRegistration(() => import('./steps.ts')),
    });
    for (const job of receiptJobs) gateway.job(job);
    gateway.on('payment.received', (_payload, host) => wakeNumbering(host));
    gateway.on('payment.refunded', (_payload, host) => wakeNumbering(host));
    for (const page of [ownReceiptPage, operatorReceiptPage, signedReceiptPage, createReceiptsPage(gateway)])
      gateway.page(page);
    gateway.checkoutStep(companyStep);
    gateway.resource(receipts, {
      description: 'list and find receipts of payments and refunds',
      examples: ['daypass receipt list', 'daypass receipt find 000123', 'daypass receipt list --waiting'],
    });
  },
};
