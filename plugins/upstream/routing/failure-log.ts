import type { Logger } from '#core/platform/logger.ts';
import { type Fault, faultEffects, describeFault } from '../attempt/fault.ts';

const intervalMs = 60_000; // at most one line per route in this time

interface LoggedRoute {
  readonly loggedAt: number; // ms, monotonic
  unlogged: number;
}

/**
 * Logs the first failure of a route, so that a failover is visible before a breaker opens, and then at most one line a minute with the
 * number of failures in between. Rejected keys and unknown models are logged elsewhere.
 */
export class FailureLog {
  readonly #routes = new Map<string, LoggedRoute>();
  readonly #now: () => number;

  /** @param now monotonic ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * @param effect the consequence, such as `asking openai/gpt-6-sol`
   * @param request id of the request that failed
   */
  report(log: Logger, route: string, fault: Fault, effect: string, request: string): void {
    if (!isLogged(fault)) return;
    const now = this.#now();
    const logged = this.#routes.get(route);
    if (logged !== undefined && now - logged.loggedAt < intervalMs) {
      logged.unlogged++;
      return;
    }
    const since = logged === undefined || logged.unlogged === 0 ? '' : ` (${logged.unlogged} more since the last line)`;
    this.#routes.set(route, { loggedAt: now, unlogged: 0 });
    const reason = describeFault(fault).replace(/\s+/g, ' ').trim();
    log.warn(`route ${route} failed for ${request}, ${effect}: ${reason}${since}`);
  }
}

function isLogged({ kind, isStaleConnection }: Fault): boolean {
  if (isStaleConnection) return false;
  return kind === 'throttled' || faultEffects[kind].breaker === 'fail';
}
