import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

const texts = { en, id };
const loadWriters = () => import('./account-mail-writers.ts');

export const accountMails: readonly MailKind[] = [
  { event: 'plan.ending', delivery: 'reminder', texts, load: async () => (await loadWriters()).planEnding },
  { event: 'plan.ended', delivery: 'optional', texts, load: async () => (await loadWriters()).planEnded },
  { event: 'session.created', delivery: 'urgent', texts, load: async () => (await loadWriters()).sessionCreated },
  { event: 'key.rotated', delivery: 'urgent', texts, load: async () => (await loadWriters()).keyRotated },
  { event: 'account.email_changed', delivery: 'urgent', texts, load: async () => (await loadWriters()).emailChanged },
];
