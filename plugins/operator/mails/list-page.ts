import { countUndelivered, listMails, undeliveredDays } from '#core/business/mail/mails.ts';
import type { Page } from '#core/web/pages/page.ts';
import { mailTable } from '../mail-table.ts';

/** Maximum mails on the page; as mails are sent again, further ones move up. */
const listed = 200;

/** `/operator/mails`: mails to customers that were not delivered, or possibly not. */
export const mailsPage: Page = {
  path: '/operator/mails',
  role: 'operator',
  title: 'operator.mails_undelivered',
  template: 'operator/mails.eta',
  async show(request) {
    const { host, t } = request;
    const [mails, { money, others }] = await Promise.all([
      listMails(host.database, { isUndelivered: true }, listed),
      countUndelivered(host.database),
    ]);
    return {
      text: t('operator.mails_text', { count: undeliveredDays }),
      total: mails.length === 0 ? '' : t('operator.mails_total', { count: money + others }),
      table: mailTable(mails, request, true),
    };
  },
};
