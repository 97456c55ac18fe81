import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

const texts = { en, id };
const writers = () => import('./account-mail-writers.ts');

/** Mails about the end of paid time, sign-ins, the key and the address of an account. */
export const accountMails: readonly MailKind[] = [
  { event: 'plan.ending', delivery: 'reminder', texts, load: async () => (await writers()).planEnding },
  { event: 'plan.ended', delivery: 'optional', texts, load: async () => (await writers()).planEnded },
  { event: 'session.created', delivery: 'urgent', texts, load: async () => (await writers()).signIn },
  { event: 'key.rotated', delivery: 'urgent', texts, load: async () => (await writers()).keyRotated },
  { event: 'account.email_changed', delivery: 'urgent', texts, load: async () => (await writers()).emailChanged },
];
