import { type CustomerMail, concernsMoney } from '#core/business/mail/mails.ts';
import { text } from '#core/business/operator-actions/action-kind.ts';
import { getActions } from '#core/business/operator-actions/actions.ts';
import { accountSubject, orderSubject } from '#core/business/operator-actions/subjects.ts';
import { boolean, object } from '#core/platform/schema.ts';
import { defineView, type FieldReader } from './field.ts';
import { createAfterSchema, defineResource, readPage } from './resource.ts';

const stateKinds = {
  waiting: 'waiting',
  sending: 'waiting',
  sent: 'ok',
  skipped: 'info',
  failed: 'bad',
  uncertain: 'warn',
} as const;

export const mails = defineResource({
  name: 'mail',
  summary: 'list e-mails to customers and their outcome, newest first',
  query: object({
    account: text('Only mails to this account: id, e-mail address, name, hint or key.'),
    order: text('Only mails about this order: code or id.'),
    undelivered: boolean('Only mails of the last week that did not arrive, or may not have arrived.'),
    after: createAfterSchema('mail', '^\\d{1,18}$'),
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
      state: { type: 'state', at: 'end', texts: 'operator.mail_state', kinds: stateKinds, of: 'state' },
      tries: { type: 'count', at: 'hide', of: 'tries' },
      error: { type: 'text', fit: 'text', at: 'below', isSentence: true, of: 'error' },
      next_step: { type: 'link', at: 'hide', cell: describeNextStep },
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

/** The columns for emails about one account or order. */
export const subjectMailFields = mails.view.page
  .filter(({ name }) => name !== 'receiver')
  .map((field) => (field.name === 'next_step' ? { ...field, at: 'note-end' as const } : field));

const sendAgainAction = 'mail.send_again'; // of the mail plugin

/** Sent emails qualify only if they are about money. */
function describeNextStep({ id, state, event }: CustomerMail, { t, host }: FieldReader) {
  if (!getActions(host).has(sendAgainAction)) return undefined;
  if (state === 'waiting' || state === 'sending' || (state === 'sent' && !concernsMoney(event))) return undefined;
  return { text: t(`operator.act.${sendAgainAction}`), path: `/operator/mails/${id}/send-again`, isButton: true };
}
