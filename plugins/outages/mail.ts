import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import { findOutage, listCredits } from './credit.ts';
import { outagesSection } from './section.ts';

export const creditMail: MailKind<'outage.credited'> = {
  event: 'outage.credited',
  delivery: 'optional',
  async write({ host, payload, reason, account, t, format, buttons }) {
    if (!host.section(outagesSection).mail) return reason('mail.reason.credit_mail_off');
    const { model, from } = await findOutage(host.database, payload.outageId);
    const credits = await listCredits(host.database, account.id, 7);
    const credit = credits.find(
      (candidate) => candidate.model === model && candidate.fromAt.getTime() === from.getTime(),
    );
    if (credit === undefined) return reason('mail.reason.no_credit');
    const minutes = t('mail.outage.minutes', { count: Math.max(1, Math.round(credit.seconds / 60)) });
    const end = account.periods.at(-1)?.endsAt;
    return {
      subject: t('mail.outage.subject', { time: minutes }),
      paragraphs: [t('mail.outage.text', { model, time: format.time(from).text })],
      facts: end === undefined ? [] : [[t('mail.outage.ends_at'), format.time(end).text]],
      action: buttons.home,
    };
  },
};
