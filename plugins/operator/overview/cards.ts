import type { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { QueueState } from '#core/platform/jobs/jobs.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import type { CheckCounts } from '#core/business/payments/payment-figures.ts';
import { type JournalStatus, readJournalStatus } from '#core/gateway/records/journal-status.ts';
import { overviewReadings } from '../readings.ts';

type Reader = Pick<PageRequest, 't' | 'format'>;

/** A list of names and values under a heading with a state. */
export interface FactsCard {
  readonly title: string;
  readonly status: { readonly kind: string; readonly text: string } | undefined;
  /** `path`: a page that tells more of the value. */
  readonly facts: readonly { readonly name: string; readonly value: string; readonly path?: string }[];
}

/** Health checks about the journal; their reasons are listed with what needs action. */
const journalChecks = ['records', 'disk'];
/** Ms that a job may wait for a worker before it counts as late. */
const lateJob = 60_000;

/** The journal of records: of this instance. */
export function describeJournal(
  gateway: Pick<Registry, 'statusReports' | 'healthChecks'>,
  request: PageRequest,
): FactsCard {
  const { t, format, host } = request;
  const title = t('operator.journal');
  const journal = readJournalStatus(gateway, host);
  if (journal === undefined) {
    return { title, status: { kind: 'info', text: t('operator.journal_state.none') }, facts: [] };
  }
  const { waiting_records: records, waiting_bytes: bytes, oldest_ms: oldest } = journal;
  const waiting = t('operator.journal_waiting_value', { count: records, size: format.bytes(bytes).text });
  return {
    title,
    status: isFailing(gateway, host) ? { kind: 'bad', text: t('problem.check') } : journalState(journal, t),
    facts: [
      { name: t('operator.journal_waiting'), value: waiting },
      { name: t('operator.journal_oldest'), value: records === 0 ? '' : format.duration(oldest).text },
      ...(journal.lost_records > 0
        ? [{ name: t('operator.journal_lost'), value: format.number(journal.lost_records) }]
        : []),
      ...(journal.free_disk_bytes === null
        ? []
        : [{ name: t('operator.journal_disk'), value: format.bytes(journal.free_disk_bytes).text }]),
    ],
  };
}

function isFailing({ healthChecks }: Pick<Registry, 'healthChecks'>, host: Host): boolean {
  return journalChecks.some((name) => healthChecks.get(name)?.check(host).ok === false);
}

function journalState({ lost_records: lost }: JournalStatus, t: Reader['t']) {
  return lost > 0
    ? { kind: 'warn', text: t('operator.journal_state.lost') }
    : { kind: 'ok', text: t('operator.journal_state.shipping') };
}

/** The queue of jobs, and the checks of payments that are due. */
export async function describeJobs(request: PageRequest): Promise<FactsCard> {
  const { t, format } = request;
  const readings = overviewReadings(request.host);
  const [checks, queue] = await Promise.all([readings.checks.get(), readings.queue.get().catch(() => undefined)]);
  const facts = [
    { name: t('operator.jobs_checks'), value: format.number(checks.attempts) },
    ...describeChecks(checks, request),
  ];
  const title = t('operator.jobs');
  if (queue === undefined) return { title, status: { kind: 'bad', text: t('operator.jobs_state.away') }, facts };
  const late = queue.longestWait > lateJob ? queue.waiting : 0;
  return {
    title,
    status: jobsState(queue, late, t),
    facts: [
      ...facts,
      { name: t('operator.jobs_late'), value: format.number(late) },
      { name: t('operator.jobs_failed'), value: format.number(queue.failed.length) },
    ],
  };
}

/** Values that are usually zero are listed only if they are not. */
function describeChecks({ refunds, notifications }: CheckCounts, { t, format }: Reader) {
  const counts = [
    { name: t('operator.jobs_refunds'), count: refunds },
    { name: t('operator.jobs_notifications'), count: notifications },
  ];
  return counts.filter(({ count }) => count > 0).map(({ name, count }) => ({ name, value: format.number(count) }));
}

function jobsState({ failed }: QueueState, late: number, t: Reader['t']) {
  if (late > 0) return { kind: 'warn', text: t('operator.jobs_state.late') };
  return failed.length > 0
    ? { kind: 'warn', text: t('operator.jobs_state.failed') }
    : { kind: 'ok', text: t('operator.jobs_state.on_time') };
}
