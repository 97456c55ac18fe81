import type { MailWriter } from '#core/gateway/mails/mail-kind.ts';
import { defineSentences } from '#core/platform/sentences.ts';
import { findAnnouncement, isOpen } from '../announcements.ts';
import en from './texts/en.json' with { type: 'json' };

const mailReason = defineSentences(en);

export const writeAnnouncementMail: MailWriter<'announcement.published'> = {
  async write({ host, payload, language, t, format, buttons, pages }) {
    const announcement = await findAnnouncement(host.database, payload.announcementId);
    if (announcement === undefined || !isOpen(announcement, host.now()))
      return mailReason('mail.reason.announcement_ended');
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
