import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import { findReservation } from './waiting-list.ts';

export const placeMail: MailKind<'place.reserved'> = {
  event: 'place.reserved',
  delivery: 'usual',
  async write({ host, payload, reason, t, format, buttons }) {
    const reservation = await findReservation(host.database, payload.entryId);
    if (reservation?.isOpen !== true) return reason('mail.reason.place_gone');
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
