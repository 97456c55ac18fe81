import { findModelsWithoutBackup } from '#core/config/catalog/backups.ts';
import { readQueueState } from '#core/gateway/health/job-gauges.ts';
import { describeFailure } from '#core/platform/errors/connection-error.ts';
import { maxListedFailedJobs } from '#core/platform/jobs/jobs.ts';
import { inBrackets, type ProblemKind, readEmphasis } from './problem.ts';

/** Reports jobs that failed for good. A queue that does not respond is reported by the health check `jobs`. */
export const failedJobsProblem: ProblemKind = {
  name: 'failed_jobs',
  order: 60,
  runbook: 'jobs-failed',
  async find({ host, t }) {
    const { failed } = await readQueueState(host).catch(() => ({ failed: [] }));
    const [latest] = failed;
    if (latest === undefined) return [];
    const key = failed.length < maxListedFailedJobs ? 'problem.jobs.text' : 'problem.jobs.many';
    const text = readEmphasis(t(key, { count: failed.length, name: latest.name }));
    return [
      {
        severity: 'warn',
        title: t('operator.jobs_state.failed'),
        pieces: [...text, { text: inBrackets(t(describeFailure(latest.reason))) }],
        since: new Date(failed.at(-1)?.failedAt ?? latest.failedAt),
        step: { path: '/operator/health', label: t('operator.failed_jobs') },
      },
    ];
  },
};

const maxListed = 10;

/** Reports models with only one upstream: they work, but have no backup. The problem has no start, because it follows from gateway.yaml. */
export const missingBackupsProblem: ProblemKind = {
  name: 'no_backup',
  order: 70,
  find({ host, t }) {
    const names = findModelsWithoutBackup(host.catalog.models).map(({ publicName }) => publicName);
    if (names.length === 0) return [];
    const hiddenCount = names.length - maxListed;
    const models = [
      ...names.slice(0, maxListed),
      ...(hiddenCount > 0 ? [t('problem.no_backup.more', { count: hiddenCount })] : []),
    ];
    return [
      {
        severity: 'info',
        title: t('problem.no_backup'),
        pieces: readEmphasis(t('problem.no_backup.text', { count: names.length, models: models.join(', ') })),
        step: { path: '/operator/routes', label: t('problem.no_backup.label') },
      },
    ];
  },
};
