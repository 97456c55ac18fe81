import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import { orderTexts as texts } from './order-reason.ts';

const loadWriters = () => import('./order-mail-writers.ts');

export const orderMails: readonly MailKind[] = [
  { event: 'order.paid', delivery: 'urgent', texts, load: async () => (await loadWriters()).receiptMail },
  { event: 'payment.refunded', delivery: 'urgent', texts, load: async () => (await loadWriters()).refundMail },
];
