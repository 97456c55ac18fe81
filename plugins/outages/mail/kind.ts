import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Email to accounts that were credited for an outage. */
export const creditMail: MailKind = {
  event: 'outage.credited',
  delivery: 'optional',
  texts: { en, id },
  load: async () => (await import('./writer.ts')).writeCreditMail,
};
