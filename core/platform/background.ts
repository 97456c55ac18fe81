import { logFailure } from './errors/connection-error.ts';
import type { Logger } from './logger.ts';
import { LineThrottle } from './timing/throttle.ts';

const reminderIntervalMs = 60_000;

interface Failures {
  readonly totals: Map<string, number>;
  readonly lines: LineThrottle;
}

const failuresByLog = new WeakMap<Logger, Failures>();

/**
 * Runs work without awaiting it. Errors and rejections are logged and counted, with no further effect.
 *
 * @param what description from the code, as in "updates of open pages"
 * @param request id of the request that the work belongs to
 */
export function inBackground(log: Logger, what: string, work: () => unknown, request?: string): void {
  try {
    const result = work();
    if (result instanceof Promise) result.catch((error: unknown) => noteFailure(log, what, error, request));
  } catch (error) {
    noteFailure(log, what, error, request);
  }
}

/** Wraps a listener of an emitter, a timer or a notification, in which an exception would end the process. */
export function guarded<Values extends readonly unknown[]>(
  log: Logger,
  what: string,
  listener: (...values: Values) => unknown,
): (...values: Values) => void {
  return (...values) => inBackground(log, what, () => listener(...values));
}

/** Logs and counts an otherwise unhandled failure. Never throws. */
export function noteFailure(log: Logger, what: string, error: unknown, request?: string): void {
  const { totals, lines } = failuresOf(log);
  totals.set(what, (totals.get(what) ?? 0) + 1);
  const more = lines.pass(what);
  if (more === undefined) return;
  const prefix = request === undefined ? '' : `request ${request}: `;
  logFailure(log, `${prefix}${what} failed${more}`, error);
}

/** Counts failures by kind of work. */
export function countFailures(log: Logger): ReadonlyMap<string, number> {
  return failuresByLog.get(log)?.totals ?? new Map();
}

function failuresOf(log: Logger): Failures {
  const failures = failuresByLog.get(log) ?? { totals: new Map(), lines: new LineThrottle(reminderIntervalMs) };
  failuresByLog.set(log, failures);
  return failures;
}
