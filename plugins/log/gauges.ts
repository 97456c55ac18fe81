import type { Gauge } from '#core/extension/gauge.ts';
import type { Host } from '#core/host.ts';
import type { Journal } from './journal.ts';

/** The journal of this process, once a stage has opened it. Reading a gauge does not open one. */
export function openJournal(host: Pick<Host, 'keep'>): { journal: Journal | undefined } {
  return host.keep('log/open-journal', () => ({ journal: undefined }));
}

export const journalGauge: Gauge = {
  name: 'journal_waiting_bytes',
  description: 'Bytes of request records on disk that are not in the database yet.',
  read: (host) => readJournal(host, ({ waitingBytes }) => waitingBytes),
};

export const lostRecordsGauge: Gauge = {
  name: 'requests_without_record',
  description: 'Requests not recorded since the start.',
  read: (host) => readJournal(host, ({ lost }) => lost),
};

function readJournal(host: Host, read: (journal: Journal) => number) {
  const { journal } = openJournal(host);
  return journal === undefined ? [] : [{ value: read(journal) }];
}
