import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Mail to the next account on the waiting list. */
export const placeMail: MailKind = {
  event: 'place.reserved',
  delivery: 'usual',
  texts: { en, id },
  load: async () => (await import('./writer.ts')).writePlaceMail,
};
