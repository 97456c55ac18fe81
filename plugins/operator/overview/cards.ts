import type { Registry } from '#core/extension/registry.ts';
import { readQueueState } from '#core/gateway/health/job-gauges.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type JournalStatus, readJournalStatus } from '#core/gateway/records/journal-status.ts';
import { maxListedFailedJobs, type QueueState } from '#core/platform/jobs/jobs.ts';
import type { PageRequest, Localizer } from '#core/web/pages/page.ts';
import { overviewReadings } from '../readings.ts';

export interface FactsCard {
  readonly title: string;
  readonly status: { readonly kind: string; readonly text: string } | undefined;
  readonly facts: readonly { readonly name: string; readonly value: string; readonly path?: string }[];
}

export function translateFacts(
  t: Localizer['t'],
  facts: readonly (readonly [name: string, value: string | undefined])[],
) {
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [{ name: t(name), value }]));
}

const journalChecks = ['records', 'disk'];
const lateJobWaitMs = 60_000;

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
  const { lost_records: lost, free_disk_bytes: disk } = journal;
  const waiting = t('operator.journal_waiting_value', { count: records, size: format.bytes(bytes).text });
  return {
    title,
    status: isFailing(gateway, host) ? { kind: 'bad', text: t('problem.check') } : describeJournalState(journal, t),
    facts: translateFacts(t, [
      ['operator.journal_waiting', waiting],
      ['operator.journal_oldest', records === 0 ? '' : format.duration(oldest).text],
      ['operator.journal_lost', lost === 0 ? undefined : format.number(lost)],
      ['operator.journal_disk', disk === null ? undefined : format.bytes(disk).text],
    ]),
  };
}

function isFailing({ healthChecks }: Pick<Registry, 'healthChecks'>, host: Host): boolean {
  return journalChecks.some((name) => healthChecks.get(name)?.check(host).ok === false);
}

function describeJournalState({ lost_records: lost }: JournalStatus, t: Localizer['t']) {
  return lost > 0
    ? { kind: 'warn', text: t('operator.journal_state.lost') }
    : { kind: 'ok', text: t('operator.journal_state.shipping') };
}

export async function describeJobs(request: PageRequest): Promise<FactsCard> {
  const { t, format, host } = request;
  const [checks, queue] = await Promise.all([
    overviewReadings.checks(host).get(),
    readQueueState(host).catch(() => undefined),
  ]);
  const { attempts, refunds, notifications } = checks;
  const lateCount = queue !== undefined && queue.oldestWaitMs > lateJobWaitMs ? queue.waiting : 0;
  const formatUnlessZero = (count: number) => (count === 0 ? undefined : format.number(count));
  return {
    title: t('operator.jobs'),
    status: describeJobsState(queue, lateCount, t),
    facts: translateFacts(t, [
      ['operator.jobs_checks', format.number(attempts)],
      ['operator.jobs_refunds', formatUnlessZero(refunds)],
      ['operator.jobs_notifications', formatUnlessZero(notifications)],
      ['operator.jobs_late', queue && format.number(lateCount)],
      ['operator.jobs_failed', queue && describeFailureCount(queue.failed.length, request)],
    ]),
  };
}

function describeFailureCount(count: number, { t, format }: Localizer): string {
  return count < maxListedFailedJobs ? format.number(count) : t('operator.or_more', { count });
}

function describeJobsState(queue: QueueState | undefined, lateCount: number, t: Localizer['t']) {
  if (queue === undefined) return { kind: 'bad', text: t('operator.jobs_state.away') };
  if (lateCount > 0) return { kind: 'warn', text: t('operator.jobs_state.late') };
  return queue.failed.length > 0
    ? { kind: 'warn', text: t('operator.jobs_state.failed') }
    : { kind: 'ok', text: t('operator.jobs_state.on_time') };
}
