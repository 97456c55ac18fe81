import { downtimeOf, type LedgerEntry } from '#core/business/accounts/ledger-entries.ts';
import { translateRecordedLabel } from '#core/business/accounts/plans.ts';
import { describeDowntime } from '../pages/downtime.ts';
import { defineView, type FieldReader } from './field.ts';

export const ledgerView = defineView<LedgerEntry>()({
  written: { type: 'time', at: 'hide', of: 'createdAt' },
  reason: { type: 'state', at: 'title', texts: 'operator.ledger_reason', of: 'reason' },
  days: { type: 'count', label: 'operator.days_column', at: 'end', isNamed: true, of: 'days' },
  from: { type: 'time', at: 'note', of: 'startsAt' },
  until: { type: 'time', at: 'note-end', of: 'endsAt' },
  label: { type: 'text', of: 'label' },
  note: { type: 'text', fit: 'text', at: 'hide', of: 'note', cell: describeLedgerNote },
  in_force: {
    type: 'text',
    heading: '',
    at: 'hide',
    value: ({ isInForce }) => (isInForce ? undefined : 'replaced'),
    cell({ isInForce, startsAt, endsAt }, { t }) {
      if (!isInForce) return t('operator.replaced');
      return startsAt < endsAt ? { text: t('operator.yes'), kind: 'ok' } : t('operator.no_time_left');
    },
  },
});

/** The gateway's own reasons are translated. */
export function describeLedgerNote(entry: LedgerEntry, reader: FieldReader): string | undefined {
  const downtime = downtimeOf(entry);
  if (downtime !== undefined) return describeDowntime(downtime, reader);
  const { note, label } = entry;
  return note ?? (label && translateRecordedLabel(reader.language, label, reader.host));
}
