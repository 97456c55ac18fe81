import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import { findAnnouncement, isOpen } from './announcements.ts';

export const announcementMail: MailKind<'announcement.published'> = {
  event: 'announcement.published',
  delivery: 'optional',
  async write({ host, payload, reason, language, t, format, buttons, pages }) {
    const announcement = await findAnnouncement(host.database, payload.announcementId);
    if (announcement === undefined || !isOpen(announcement, host.now()))
      return reason('mail.reason.announcement_ended');
    const { kind, text, model, from, until, audience } = announcement;
    const time = (at: number) => format.time(new Date(at)).text;
    return {
      subject: t(`mail.announcement.${kind}`, { service: host.service.name }),
      paragraphs: [text[language]],
      facts: [
        ...(model === undefined ? [] : [[t('mail.announcement.model'), model] as const]),
        [t('mail.announcement.from'), time(from)],
        [t('mail.announcement.until'), time(until)],
      ],
      action: audience === 'all' ? { label: t('mail.announcement.status'), url: pages.status } : buttons.home,
    };
  },
};
