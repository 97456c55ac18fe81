import type { HealthCheck, HealthVerdict } from '#core/gateway/health/health-check.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { getActiveLog } from './active-log.ts';
import { logReason } from './log-reason.ts';
import type { RequestLog } from './request-log.ts';
import type { JournalTrouble } from './segment-opener.ts';

const lossFailureMs = 300_000; // the metric and the operator pages show a loss for longer

/** Checks the waiting records and the last attempt. A ping would not prove that writing works. */
export const recordsCheck: HealthCheck = {
  name: 'records',
  runbook: 'records-waiting',
  check(host: Host): HealthVerdict {
    const { requestLog, lateAfterMs } = getActiveLog(host);
    if (requestLog === undefined) return { ok: true };
    const problem =
      findLoss(requestLog) ?? findTrouble(requestLog) ?? findLate(requestLog, lateAfterMs) ?? findObstacle(requestLog);
    if (problem === undefined) return { ok: true };
    return { ok: false, reason: problem.reason, since: Math.round(host.now() - (performance.now() - problem.since)) };
  },
};

function findLoss({ journal: { losses } }: RequestLog): JournalTrouble | undefined {
  const { latest, total } = losses;
  if (latest === undefined || performance.now() - latest.lostAt > lossFailureMs) return undefined;
  return { reason: logReason('log.reason.loss', { count: total, why: latest.reason }), since: latest.lostAt };
}

function findTrouble({ journal: { trouble } }: RequestLog): JournalTrouble | undefined {
  if (trouble === undefined) return undefined;
  return { reason: logReason('log.reason.journal', { why: trouble.reason }), since: trouble.since };
}

function findLate({ journal, failure }: RequestLog, lateAfterMs: number): JournalTrouble | undefined {
  const now = performance.now();
  const since = Math.min(failure?.since ?? now, now - journal.oldestAgeMs);
  // Temporary failures, such as a restart or a lock, count only once records are late.
  if (failure?.isPersistent !== true && now - since <= lateAfterMs) return undefined;
  const count = journal.waitingRecords;
  const values = { count, seconds: Math.round(journal.oldestAgeMs / 1000), why: failure?.reason ?? '' };
  const key = `log.reason.${count === 0 ? 'unstored' : 'waiting'}${failure === undefined ? '' : '_why'}` as const;
  const summary = logReason(key, values);
  return { reason: logReason('log.reason.late', { what: summary }), since };
}

function findObstacle({ leftovers: { obstacle } }: RequestLog): JournalTrouble | undefined {
  if (obstacle === undefined) return undefined;
  return { reason: logReason('log.reason.obstacle', { why: obstacle.reason }), since: obstacle.since };
}
