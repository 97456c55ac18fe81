import type { Gauge } from '#core/extension/gauge.ts';
import type { Host } from '#core/host.ts';
import type { Journal } from './journal.ts';

/** The journal of this process, once the stage has opened one: to ask for figures opens none. */
export function openJournal(host: Pick<Host, 'keep'>): { journal: Journal | undefined } {
  return host.keep('log/open-journal', () => ({ journal: undefined }));
}

export const journalGauge: Gauge = {
  name: 'journal_waiting_bytes',
  description: 'Bytes of request records on disk that are not in the database yet.',
  read: (host) => figure(host, ({ waitingBytes }) => waitingBytes),
};

export const lostRecordsGauge: Gauge = {
  name: 'requests_without_record',
  description: 'Requests since the start that could not be recorded.',
  read: (host) => figure(host, ({ lost }) => lost),
};

function figure(host: Host, read: (journal: Journal) => number) {
  const { journal } = openJournal(host);
  return journal === undefined ? [] : [{ value: read(journal) }];
}
