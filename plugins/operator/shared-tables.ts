import type { LedgerEntry } from '#core/business/accounts/ledger-entries.ts';
import { type CustomerMail, moneyEvents } from '#core/business/mail/mails.ts';
import { ledgerNote } from './ledger-note.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { type ColumnOf, describeTable, type TableSection } from '#core/web/pages/table.ts';

type Reader = Pick<PageRequest, 't' | 'format' | 'language' | 'host'>;

export function ledgerTable(entries: readonly LedgerEntry[], reader: Reader): TableSection {
  const { t } = reader;
  const inForce = { text: t('operator.yes'), kind: 'ok' } as const;
  return describeTable(reader, 'ledger', 'operator.ledger', entries, [
    { label: 'operator.written', at: 'hide', cell: ({ createdAt }) => createdAt },
    { label: 'operator.reason', at: 'title', cell: ({ reason }) => t(`operator.ledger_reason.${reason}`) },
    { label: 'operator.days_column', at: 'end', isNumber: true, isNamed: true, cell: ({ days }) => days },
    { label: 'operator.from', at: 'note', cell: ({ startsAt }) => startsAt },
    { label: 'operator.until', at: 'note-end', cell: ({ endsAt }) => endsAt },
    {
      label: 'operator.note',
      fit: 'text',
      at: 'hide',
      cell: (entry) => ledgerNote(entry, reader),
    },
    {
      label: 'operator.in_force',
      at: 'hide',
      cell: ({ isInForce, startsAt, endsAt }) =>
        isInForce ? (startsAt < endsAt ? inForce : t('operator.no_time_left')) : t('operator.replaced'),
    },
  ]);
}

const mailKinds = {
  waiting: 'waiting',
  sending: 'waiting',
  sent: 'ok',
  skipped: 'info',
  failed: 'bad',
  uncertain: 'warn',
} as const;

/** Mails to customers, with what has become of them. @param isMixed true: of several accounts, which are named */
export function mailTable(mails: readonly CustomerMail[], reader: Reader, isMixed = false): TableSection {
  const { t } = reader;
  const about: ColumnOf<CustomerMail> = {
    label: 'operator.about',
    fit: 'brief',
    at: 'note-end',
    cell: ({ order, accountId }) =>
      order === undefined
        ? { text: t('operator.account'), path: `/operator/accounts/${accountId}` }
        : { text: order, path: `/operator/orders/${order}` },
  };
  return describeTable(reader, 'mails', 'operator.mails', mails, [
    { label: 'operator.time', at: 'note', cell: ({ createdAt }) => createdAt },
    { label: 'operator.mail_about', at: 'title', cell: ({ event }) => t(`operator.mail.${event}`) },
    ...(isMixed ? [about] : []),
    {
      label: 'operator.state',
      at: 'end',
      cell: ({ state }) => ({ text: t(`operator.mail_state.${state}`), kind: mailKinds[state] }),
    },
    { label: 'operator.tries', at: 'hide', isNumber: true, cell: ({ tries }) => tries },
    { label: 'operator.error', fit: 'text', at: 'below', cell: ({ error }) => error && t(error) },
    {
      label: 'operator.next_step',
      at: isMixed ? 'hide' : 'note-end',
      cell: (mail) =>
        canRepeat(mail)
          ? { text: t('operator.act.mail.send_again'), path: `/operator/mails/${mail.id}/send-again`, isButton: true }
          : undefined,
    },
  ]);
}

/** Of those that arrived, only what a customer may ask for. */
function canRepeat({ state, event }: CustomerMail): boolean {
  if (state === 'sent') return moneyEvents.some((one) => one === event);
  return state === 'failed' || state === 'uncertain' || state === 'skipped';
}
