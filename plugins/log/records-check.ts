import type { HealthCheck, HealthVerdict } from '#core/gateway/health/health-check.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { openLog } from './open-log.ts';
import { logReason } from './log-reason.ts';
import type { RequestLog } from './request-log.ts';

/** Ms for which a lost record fails the check; it stays in the metric and on the operator pages. */
const lossShownMs = 300_000;

interface Wrong {
  readonly reason: string;
  readonly since: number;
}

/** Checks whether records reach the database, by waiting records and the last attempt: a ping does not prove that writing works. */
export const recordsCheck: HealthCheck = {
  name: 'records',
  runbook: 'records-waiting',
  check(host: Host): HealthVerdict {
    const { requestLog, lateAfter } = openLog(host);
    if (requestLog === undefined) return { ok: true };
    const wrong =
      findLoss(requestLog) ?? findTrouble(requestLog) ?? findLate(requestLog, lateAfter) ?? findObstacle(requestLog);
    if (wrong === undefined) return { ok: true };
    return { ok: false, reason: wrong.reason, since: Math.round(host.now() - (performance.now() - wrong.since)) };
  },
};

function findLoss({ journal: { losses } }: RequestLog): Wrong | undefined {
  const { latest, total } = losses;
  if (latest === undefined || performance.now() - latest.at > lossShownMs) return undefined;
  return {
    reason: logReason('log.reason.loss', { count: total, why: latest.reason }),
    since: latest.at,
  };
}

function findTrouble({ journal: { trouble } }: RequestLog): Wrong | undefined {
  if (trouble === undefined) return undefined;
  return {
    reason: logReason('log.reason.journal', { why: trouble.reason }),
    since: trouble.since,
  };
}

/** Permanent failures are reported at once; temporary ones, such as a restart or a lock, once records are late. */
function findLate({ journal, failure }: RequestLog, lateAfter: number): Wrong | undefined {
  const now = performance.now();
  const since = Math.min(failure?.since ?? now, now - journal.oldestAge);
  if (failure?.isPersistent !== true && now - since <= lateAfter) return undefined;
  const count = journal.waitingRecords;
  const values = { count, seconds: Math.round(journal.oldestAge / 1000), why: failure?.reason ?? '' };
  const what = logReason(
    `log.reason.${count === 0 ? 'unstored' : 'waiting'}${failure === undefined ? '' : '_why'}`,
    values,
  );
  return { reason: logReason('log.reason.late', { what }), since };
}

function findObstacle({ leftovers: { obstacle } }: RequestLog): Wrong | undefined {
  if (obstacle === undefined) return undefined;
  return { reason: logReason('log.reason.obstacle', { why: obstacle.reason }), since: obstacle.since };
}
