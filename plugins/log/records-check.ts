import type { HealthCheck, HealthVerdict } from '#core/gateway/health/health-check.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { openLog } from './open-log.ts';
import type { RequestLog } from './request-log.ts';

/** Ms for which a lost record makes the check fail; it stays in the metric and on the operator pages. */
const lossShown = 300_000;

/** A failure, with its time on the clock of performance.now(). */
interface Wrong {
  readonly reason: string;
  readonly since: number;
}

/** Checks whether records reach the database by what waits and by the last attempt: a ping proves nothing about writing. */
export const recordsCheck: HealthCheck = {
  name: 'records',
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
  if (latest === undefined || performance.now() - latest.at > lossShown) return undefined;
  return {
    reason: `${total === 1 ? '1 request has' : `${total} requests have`} no record since the start (${latest.reason}). Make room for the journal, and the database writable.`,
    since: latest.at,
  };
}

function findTrouble({ journal: { trouble } }: RequestLog): Wrong | undefined {
  if (trouble === undefined) return undefined;
  return {
    reason: `The journal cannot be written (${trouble.reason}): records are in memory until the database has them, and a crash would lose them. Put the data folder right.`,
    since: trouble.since,
  };
}

/** Permanent failures are reported at once; temporary ones, such as a restart or a lock, once records are late. */
function findLate({ journal, failure }: RequestLog, lateAfter: number): Wrong | undefined {
  const now = performance.now();
  const since = Math.min(failure?.since ?? now, now - journal.oldestAge);
  if (failure?.isPersistent !== true && now - since <= lateAfter) return undefined;
  const why = failure === undefined ? '' : ` (${failure.reason})`;
  const count = journal.waitingRecords;
  const waiting = count === 1 ? '1 record waits' : `${count} records wait`;
  const what =
    count === 0
      ? 'Records could not be stored'
      : `${waiting} for the database, the oldest for ${seconds(journal.oldestAge)} s`;
  return { reason: `${what}${why}. Make the database writable; records wait on disk until then.`, since };
}

function findObstacle({ leftovers: { obstacle } }: RequestLog): Wrong | undefined {
  if (obstacle === undefined) return undefined;
  return { reason: `Records of a stopped instance wait: ${obstacle.reason}.`, since: obstacle.since };
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds / 1000);
}
