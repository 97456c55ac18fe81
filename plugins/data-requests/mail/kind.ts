import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Mail to an account whose request was answered. A paused account gets no mail and reads the answer on its page. */
export const answerMail: MailKind = {
  event: 'data_request.answered',
  delivery: 'usual',
  texts: { en, id },
  load: async () => (await import('./writer.ts')).writeAnswerMail,
};
