import type { LedgerEntry } from '#core/business/accounts/ledger-entries.ts';
import type { RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import { ledgerNote } from './ledger-note.ts';
import { tellAction } from './tell-action.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { type ColumnOf, describeTable, type TableCell, type TableSection } from '#core/web/pages/table.ts';

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

const outcomeKinds = { done: 'ok', failed: 'bad', unknown: 'waiting' } as const;

/** What operators have done. @param names of accounts, by id @param subjects what it was about, where that is not what the page is about */
export function actionTable(
  actions: readonly RecordedAction[],
  reader: Reader,
  names?: ReadonlyMap<string, string>,
  subjects?: ReadonlyMap<string, TableCell>,
): TableSection {
  const { t } = reader;
  const about: ColumnOf<RecordedAction> = {
    label: 'operator.about',
    fit: 'brief',
    at: 'note-end',
    cell: ({ subject }) => subjects?.get(subject),
  };
  return describeTable(reader, 'actions', 'operator.actions', actions, [
    { label: 'operator.time', at: 'note', cell: ({ createdAt }) => createdAt },
    { label: 'operator.action', at: 'title', cell: ({ action }) => t(`operator.did.${action}`) },
    ...(subjects === undefined ? [] : [about]),
    {
      label: 'operator.by',
      fit: 'brief',
      at: subjects === undefined ? 'note-end' : 'hide',
      isSpare: subjects !== undefined,
      cell: ({ operator }) => operator,
    },
    { label: 'operator.note', fit: 'text', at: 'below', cell: (action) => tellAction(action, reader, names) },
    {
      label: 'operator.outcome',
      at: 'end',
      cell: ({ outcome }) => ({ text: t(`operator.done.${outcome}`), kind: outcomeKinds[outcome] }),
    },
  ]);
}
