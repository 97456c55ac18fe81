import type { StatusReports } from '#core/gateway/health/status-report.ts';
import { readRouteStatus } from '#core/gateway/model-call/route-status.ts';
import { inBrackets, type ProblemKind, readEmphasis } from '#core/web/problems/problem.ts';
import { overviewReadings } from '../readings.ts';
import { findRejectedKeys } from './rejected-keys.ts';

export const createKeyProblems = (gateway: StatusReports): ProblemKind => ({
  name: 'key_rejected',
  order: 30,
  runbook: 'key-refused',
  async find({ host, t }) {
    const keys = findRejectedKeys(readRouteStatus(gateway, host), await overviewReadings.routes(host).get());
    return keys.map(({ upstream, rejectedAt, error }) => ({
      severity: 'bad',
      title: t('operator.key_rejected'),
      subject: upstream,
      // Appended after the emphasis is parsed, because the message may contain asterisks.
      pieces: [
        ...readEmphasis(t('operator.key_rejected_text', { upstream })),
        { text: inBrackets(error?.replace(/^key: /, '') ?? '') },
      ],
      since: new Date(rejectedAt),
      step: { path: '/operator/routes', label: t('problem.routes_of', { name: upstream }) },
    }));
  },
});
