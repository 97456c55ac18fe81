import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import { orderTexts as texts } from './order-reason.ts';

const writers = () => import('./order-mail-writers.ts');

/** Receipts and notices of refunds. */
export const orderMails: readonly MailKind[] = [
  { event: 'order.paid', delivery: 'urgent', texts, load: async () => (await writers()).receipt },
  { event: 'payment.refunded', delivery: 'urgent', texts, load: async () => (await writers()).refunded },
];
