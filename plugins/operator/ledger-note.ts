import { downtimeOf, type LedgerEntry } from '#core/business/accounts/ledger-entries.ts';
import { recordedLabelIn } from '#core/business/accounts/plans.ts';
import { tellDowntime } from '#core/web/pages/downtime.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

type Reader = Pick<PageRequest, 't' | 'format' | 'language' | 'host'>;

/** Why an entry of the ledger was written, in the reader's language where the gateway wrote it itself. */
export function ledgerNote(entry: LedgerEntry, reader: Reader): string | undefined {
  const downtime = downtimeOf(entry);
  if (downtime !== undefined) return tellDowntime(downtime, reader);
  const { note, label } = entry;
  return note ?? (label && recordedLabelIn(reader.language, label, reader.host));
}
