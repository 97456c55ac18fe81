import type { HealthChecks } from '#core/gateway/health/health-check.ts';
import { readHealth } from '#core/gateway/health/read-health.ts';
import type { Translate } from '../texts/texts.ts';
import type { ProblemKind } from './problem.ts';

// Checks that are not in the registry.
const runbooks = new Map([
  ['database', 'database-down'],
  ['shared state', 'shared-state-down'],
]);

export const createCheckProblems = (gateway: HealthChecks): ProblemKind => ({
  name: 'check',
  order: 20,
  runbook: 'health-check-failing',
  async find({ host, t }) {
    const checks = await readHealth(gateway, host);
    return checks.flatMap((check) => {
      if (check.ok) return [];
      const { name, reason, since } = check;
      const { page, runbook = runbooks.get(name) } = gateway.healthChecks.get(name) ?? {};
      return {
        severity: 'bad' as const,
        title: t('problem.check'),
        subject: name,
        pieces: [{ text: translateCheckName(name, t), isStrong: true }, { text: ': ' }, { text: t(reason) }],
        since: new Date(since),
        step: page === undefined ? { path: '/operator/health', label: t('problem.check_label') } : { path: page },
        runbook,
      };
    });
  },
});

/** Translates the name of a check. Returns it unchanged if there is no translation, as with third-party plugins. */
export function translateCheckName(name: string, t: Translate): string {
  const key = `check.${name.replaceAll(' ', '_')}`;
  const text = t(key);
  return text === key ? name : text;
}
