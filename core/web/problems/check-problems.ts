import type { HealthChecks } from '#core/gateway/health/health-check.ts';
import { readHealth } from '#core/gateway/health/read-health.ts';
import type { Translate } from '../texts/texts.ts';
import type { ProblemKind } from './problem.ts';

/** Runbooks of the dependencies' checks, which are not in the registry. */
const runbooks = new Map([
  ['database', 'database-down'],
  ['shared state', 'shared-state-down'],
]);

/** Failing health checks. */
export const checkProblems = (gateway: HealthChecks): ProblemKind => ({
  name: 'check',
  order: 20,
  runbook: 'health-check-failing',
  async find({ host, t }) {
    const checks = await readHealth(gateway, host);
    return checks.flatMap((checked) => {
      if (checked.ok) return [];
      const { name, reason, since } = checked;
      const { page, runbook = runbooks.get(name) } = gateway.healthChecks.get(name) ?? {};
      return {
        severity: 'bad' as const,
        title: t('problem.check'),
        subject: name,
        pieces: [{ text: nameOfCheck(name, t), isStrong: true }, { text: ': ' }, { text: t(reason) }],
        since: new Date(since),
        step: page === undefined ? { path: '/operator/health', label: t('problem.check_label') } : { path: page },
        runbook,
      };
    });
  },
});

/** Returns the display name of a check; checks of other plugins have their own names. */
export function nameOfCheck(name: string, t: Translate): string {
  const key = `check.${name.replaceAll(' ', '_')}`;
  const text = t(key);
  return text === key ? name : text;
}
