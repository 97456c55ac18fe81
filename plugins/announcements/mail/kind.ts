import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Email to the recipients of an announcement, see `recordMails`. */
export const announcementMail: MailKind = {
  event: 'announcement.published',
  delivery: 'optional',
  texts: { en, id },
  load: async () => (await import('./writer.ts')).writeAnnouncementMail,
};
