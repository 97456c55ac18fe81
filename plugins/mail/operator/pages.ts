import { countUndelivered, undeliveredDays } from '#core/business/mail/mails.ts';
import { translateChoice } from '#core/business/operator-actions/member-describers.ts';
import { plainPage } from '#core/web/actions/plain-page.ts';
import { tablesPage } from '#core/web/actions/tables-page.ts';
import { notFound } from '#core/web/pages/page-error.ts';
import { mails } from '#core/web/resources/mails.ts';
import { findMail, sendAgainAction } from './actions.ts';

export const mailsPage = tablesPage({
  path: '/operator/mails',
  title: 'operator.mails_undelivered',
  back: { path: '/operator/health', label: 'operator.health' },
  none: ['operator.mails_none', 'operator.mails_none_text'],
  resource: mails,
  async read({ host, t }) {
    const { money, others } = await countUndelivered(host.database);
    return {
      lead: t('operator.mails_text', { count: undeliveredDays }),
      sections: [{ query: { undelivered: true } }],
      below: t('operator.mails_total', { count: money + others }),
    };
  },
});

export const sendAgainPage = plainPage(sendAgainAction, {
  path: '/operator/mails/{id}',
  async find({ host, params, t }) {
    const found = await findMail(host, params['id'] ?? '');
    const action = { path: '/operator/mails', label: 'operator.mails' };
    const { id, event, order, accountId } = found ?? notFound('operator.mail_unknown', action);
    const name = translateChoice('operator.mail', event, t);
    return order === undefined
      ? { id, name, path: `/operator/accounts/${accountId}` }
      : { id, name: `${name} (${order})`, path: `/operator/orders/${order}` };
  },
});
