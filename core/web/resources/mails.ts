import type { CustomerMail } from '#core/business/mail/mails.ts';
import { text } from '#core/business/operator-actions/action-kind.ts';
import { accountSubject, orderSubject } from '#core/business/operator-actions/subjects.ts';
import { boolean, object } from '#core/platform/schema.ts';
import { defineView } from './field.ts';
import { afterEntry, defineResource, readPage } from './resource.ts';

const kinds = {
  waiting: 'waiting',
  sending: 'waiting',
  sent: 'ok',
  skipped: 'info',
  failed: 'bad',
  uncertain: 'warn',
} as const;

/** Mails to customers, with their outcomes. */
export const mails = defineResource({
  name: 'mail',
  summary: 'list mails to customers with their outcome, the newest first',
  query: object({
    account: text('Of this account: id, e-mail address, name, hint or key.'),
    order: text('About this order: code or id.'),
    undelivered: boolean('Only those of the last week that did not arrive, or perhaps did not.'),
    after: afterEntry('mail', '^\\d{1,18}$'),
  }),
  view: defineView<CustomerMail>()({
    mail: { type: 'id', of: 'id' },
    created: { type: 'time', label: 'operator.time', at: 'note', of: 'createdAt' },
    about: { type: 'state', label: 'operator.mail_about', at: 'title', texts: 'operator.mail', of: 'event' },
    receiver: {
      type: 'id',
      label: 'operator.about',
      heading: 'order or account',
      fit: 'brief',
      at: 'note-end',
      value: ({ order, accountId }) => order ?? accountId,
      cell: ({ order, accountId }, { t }) =>
        order === undefined
          ? { text: t('operator.account'), path: `/operator/accounts/${accountId}` }
          : { text: order, path: `/operator/orders/${order}` },
    },
    state: { type: 'state', at: 'end', texts: 'operator.mail_state', kinds, of: 'state' },
    tries: { type: 'count', at: 'hide', of: 'tries' },
    error: { type: 'text', fit: 'text', at: 'below', isSentence: true, of: 'error' },
  }),
  async list(host, { account, order, undelivered: isUndelivered = false, after }, { limit }) {
    const { listMails } = await import('#core/business/mail/mails.ts');
    const filter = {
      ...(account !== undefined && { accountId: (await accountSubject.find(host, account)).id }),
      ...(order !== undefined && { orderId: (await orderSubject.find(host, order)).id }),
      isUndelivered,
      ...(after !== undefined && { after }),
    };
    return readPage(limit, (max) => listMails(host.database, filter, max));
  },
  hasFormerNames: true,
});
