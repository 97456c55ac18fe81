import type { LedgerEntry } from '#core/business/accounts/ledger-entries.ts';
import type { RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import type { TableSection } from './table-section.ts';

type Reader = Pick<PageRequest, 't' | 'format'>;

export function ledgerTable(entries: readonly LedgerEntry[], { t, format }: Reader): TableSection {
  return {
    id: 'ledger',
    title: t('operator.ledger'),
    columns: [
      { label: t('operator.written'), at: 'hide' },
      { label: t('operator.reason'), at: 'title' },
      { label: t('operator.days_column'), at: 'end', isNumber: true },
      { label: t('operator.from'), at: 'note' },
      { label: t('operator.until'), at: 'note-end' },
      { label: t('operator.note'), fit: 'text', at: 'hide' },
      { label: t('operator.in_force'), at: 'hide' },
    ],
    rows: entries.map((entry) => [
      { ...format.dayTime(entry.createdAt) },
      { text: t(`operator.ledger_reason.${entry.reason}`) },
      { text: format.number(entry.days) },
      { ...format.dayTime(entry.startsAt) },
      { ...format.dayTime(entry.endsAt) },
      { text: entry.note ?? entry.label ?? '' },
      entry.isInForce ? { text: t('operator.yes'), kind: 'ok' as const } : { text: t('operator.replaced') },
    ]),
  };
}

const outcomeKinds = { done: 'ok', failed: 'bad', unknown: 'waiting' } as const;

/** What operators have done. */
export function actionTable(actions: readonly RecordedAction[], { t, format }: Reader): TableSection {
  return {
    id: 'actions',
    title: t('operator.actions'),
    columns: [
      { label: t('operator.time'), at: 'note' },
      { label: t('operator.action'), at: 'title' },
      { label: t('operator.by'), fit: 'id', at: 'hide' },
      { label: t('operator.note'), fit: 'text', at: 'below' },
      { label: t('operator.outcome'), at: 'end' },
    ],
    rows: actions.map(({ createdAt, action, operator, note, outcome, error }) => [
      { ...format.dayTime(createdAt) },
      { text: t(`operator.did.${action}`) },
      { text: operator },
      { text: [note, error].filter((part) => part !== undefined).join(' – ') },
      { text: t(`operator.done.${outcome}`), kind: outcomeKinds[outcome] },
    ]),
  };
}
