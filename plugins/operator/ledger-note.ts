import { downtimeOf, type LedgerEntry } from '#core/business/accounts/ledger-entries.ts';
import { recordedLabelIn } from '#core/business/accounts/plans.ts';
import { tellDowntime } from '#core/web/pages/downtime.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

type Reader = Pick<PageRequest, 't' | 'format' | 'language' | 'host'>;

/** Reason for an entry of the ledger, in the reader's language if the gateway wrote it. */
export function ledgerNote(entry: LedgerEntry, reader: Reader): string | undefined {
  const downtime = downtimeOf(entry);
  if (downtime !== undefined) return tellDowntime(downtime, reader);
  const { note, label } = entry;
  return note ?? (label && recordedLabelIn(reader.language, label, reader.host));
}
