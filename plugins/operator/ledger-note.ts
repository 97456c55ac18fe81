import type { LedgerEntry } from '#core/business/accounts/ledger-entries.ts';
import { recordedLabelIn } from '#core/business/accounts/plans.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

type Reader = Pick<PageRequest, 't' | 'format' | 'language' | 'host'>;

/** Why an entry of the ledger was written, in the reader's language where the gateway wrote it itself. */
export function ledgerNote(
  { note, label, outageModel: model, outageFromAt: from, outageUntilAt: until }: LedgerEntry,
  reader: Reader,
): string | undefined {
  if (model !== undefined && from !== undefined && until !== undefined)
    return tellOutage({ model, from, until }, reader);
  return note ?? (label && recordedLabelIn(reader.language, label, reader.host));
}

/** Which model was down, since when and for how long. */
export function tellOutage(
  { model, from, until }: { readonly model: string; readonly from: Date; readonly until: Date },
  { t, format, host }: Pick<Reader, 't' | 'format' | 'host'>,
): string {
  const minutes = t('operator.credit_minutes', { count: Math.round((+until - +from) / 60_000) });
  return t('operator.credit_outage', { model, time: format.dayTime(from, host.now()).text, minutes });
}
