import type { Logger } from '#core/platform/logger.ts';
import { type Fault, faultEffects, describeFault } from '../attempt/fault.ts';

const logIntervalMs = 60_000; // between two lines about the same route

interface LoggedRoute {
  readonly loggedAt: number; // ms, monotonic
  suppressedCount: number;
}

/**
 * Logs a route's first failure, so that a failover is visible before a breaker opens. After that, at most one line a minute, with the
 * number of failures since the last. Rejected keys and unknown models are logged elsewhere.
 */
export class FailureLog {
  readonly #routes = new Map<string, LoggedRoute>();
  readonly #now: () => number;

  /** @param now monotonic ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param effect what happens next, such as `asking openai/gpt-6-sol` */
  logFailure(log: Logger, route: string, fault: Fault, effect: string, requestId: string): void {
    if (!isReportable(fault)) return;
    const now = this.#now();
    const entry = this.#routes.get(route);
    if (entry !== undefined && now - entry.loggedAt < logIntervalMs) {
      entry.suppressedCount++;
      return;
    }
    const suppressedText =
      entry === undefined || entry.suppressedCount === 0 ? '' : ` (${entry.suppressedCount} more since the last line)`;
    this.#routes.set(route, { loggedAt: now, suppressedCount: 0 });
    const reason = describeFault(fault).replace(/\s+/g, ' ').trim();
    log.warn(`route ${route} failed for ${requestId}, ${effect}: ${reason}${suppressedText}`);
  }
}

function isReportable({ kind, isStaleConnection }: Fault): boolean {
  if (isStaleConnection) return false;
  return kind === 'throttled' || faultEffects[kind].breaker === 'fail';
}
