import { type CustomerMail, concernsMoney } from '#core/business/mail/mails.ts';
import { text } from '#core/business/operator-actions/action-kind.ts';
import { getActions } from '#core/business/operator-actions/actions.ts';
import { accountSubject, orderSubject } from '#core/business/operator-actions/subjects.ts';
import { boolean, object } from '#core/platform/schema.ts';
import { defineView, type FieldReader } from './field.ts';
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
  view: defineView<CustomerMail>()(
    {
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
      next_step: { type: 'link', at: 'hide', cell: nextStep },
    },
    ['mail', 'created', 'about', 'receiver', 'state', 'tries', 'error'],
  ),
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

/** Columns of the mails of one account or order. */
export const mailsOfOne = mails.view.page
  .filter(({ name }) => name !== 'receiver')
  .map((field) => (field.name === 'next_step' ? { ...field, at: 'note-end' as const } : field));

/** Action of the plugin that sends mails. */
const sendAgain = 'mail.send_again';

/** Link to send a mail again if that makes sense; of the delivered mails only those that a customer may ask for. */
function nextStep({ id, state, event }: CustomerMail, { t, host }: FieldReader) {
  if (!getActions(host).has(sendAgain)) return undefined;
  if (state === 'waiting' || state === 'sending' || (state === 'sent' && !concernsMoney(event))) return undefined;
  return { text: t(`operator.act.${sendAgain}`), path: `/operator/mails/${id}/send-again`, isButton: true };
}
