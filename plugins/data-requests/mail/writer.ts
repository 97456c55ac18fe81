import type { MailWriter } from '#core/gateway/mails/mail-kind.ts';
import { defineSentences } from '#core/platform/sentences.ts';
import { ownPath } from '../own-page.ts';
import { findRequest } from '../requests.ts';
import en from './texts/en.json' with { type: 'json' };

const mailReason = defineSentences(en);

export const writeAnswerMail: MailWriter<'data_request.answered'> = {
  async write({ host, payload, t, format }) {
    const request = await findRequest(host.database, payload.requestId);
    if (request?.answer === undefined || request.outcome === undefined)
      return mailReason('mail.reason.data_request_gone');
    const { kind, receivedAt, outcome, answer } = request;
    return {
      subject: t('mail.data_request.subject', { service: host.service.name }),
      paragraphs: [t(`mail.data_request.${outcome}`), ...answer.split(/[\r\n]+/).filter((line) => line.trim() !== '')],
      facts: [
        [t('mail.data_request.asked'), t(`mail.data_request.kind.${kind}`)],
        [t('mail.data_request.received'), format.time(receivedAt).text],
      ],
      action: { label: t('mail.data_request.open'), url: `${host.service.baseUrl}${ownPath}` },
    };
  },
};
