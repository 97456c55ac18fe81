import { findModelsWithoutBackup } from '#core/config/catalog/backups.ts';
import { readQueueState } from '#core/gateway/health/job-gauges.ts';
import { describeFailure } from '#core/platform/errors/connection-error.ts';
import { inBrackets, type ProblemKind, readEmphasis } from './problem.ts';

/** Jobs that failed for good. A queue that does not answer is found by the health check `jobs`. */
export const failedJobs: ProblemKind = {
  name: 'failed_jobs',
  order: 60,
  runbook: 'jobs-failed',
  async find({ host, t }) {
    const { failed } = await readQueueState(host).catch(() => ({ failed: [] }));
    const [latest] = failed;
    if (latest === undefined) return [];
    const text = readEmphasis(t('problem.jobs.text', { count: failed.length, name: latest.name }));
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

/**
 * Models with only one upstream: nothing is wrong yet, but customers were promised a backup. It lasts as long as gateway.yaml says so, and
 * its start does not matter.
 */
export const missingBackups: ProblemKind = {
  name: 'no_backup',
  order: 70,
  find({ host, t }) {
    const alone = findModelsWithoutBackup(host.catalog.models).map(({ publicName }) => publicName);
    if (alone.length === 0) return [];
    const more = alone.length - maxListed;
    const models = [...alone.slice(0, maxListed), ...(more > 0 ? [t('problem.no_backup.more', { count: more })] : [])];
    return [
      {
        severity: 'info',
        title: t('problem.no_backup'),
        pieces: readEmphasis(t('problem.no_backup.text', { count: alone.length, models: models.join(', ') })),
        step: { path: '/operator/routes', label: t('problem.no_backup.label') },
      },
    ];
  },
};
