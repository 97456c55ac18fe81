import type { MailWriter } from '#core/gateway/mails/mail-kind.ts';
import { defineSentences } from '#core/platform/sentences.ts';
import { findReservation } from '../waiting-list.ts';
import en from './texts/en.json' with { type: 'json' };

const mailReason = defineSentences(en);

export const writePlaceMail: MailWriter<'place.reserved'> = {
  async write({ host, payload, t, format, buttons }) {
    const reservation = await findReservation(host.database, payload.entryId);
    if (reservation?.isOpen !== true) return mailReason('mail.reason.place_gone');
    const { days, until } = reservation;
    const time = format.time(until).text;
    return {
      subject: t('mail.place.subject', { time }),
      paragraphs: [t('mail.place.text', { service: host.service.name })],
      facts: [
        [t('mail.place.plan'), t('mail.place.days', { count: days })],
        [t('mail.place.until'), time],
      ],
      action: { ...buttons.renew, url: `${buttons.renew.url}?days=${days}` },
    };
  },
};
