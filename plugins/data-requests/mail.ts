import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import { ownPath } from './own-page.ts';
import { findRequest } from './requests.ts';

/** A paused account gets no mail and reads the answer on its page. */
export const answerMail: MailKind<'data_request.answered'> = {
  event: 'data_request.answered',
  delivery: 'usual',
  async write({ host, payload, reason, t, format }) {
    const request = await findRequest(host.database, payload.requestId);
    if (request?.answer === undefined || request.outcome === undefined) return reason('mail.reason.data_request_gone');
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
