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
 * @param task fixed description for the log and the counter, such as "updates of open pages"
 */
export function runInBackground(log: Logger, task: string, work: () => unknown, requestId?: string): void {
  try {
    const result = work();
    if (result instanceof Promise) result.catch((error: unknown) => noteFailure(log, task, error, requestId));
  } catch (error) {
    noteFailure(log, task, error, requestId);
  }
}

/** Wraps a listener of an emitter, a timer or a notification, whose exceptions would otherwise end the process. */
export function guardListener<Values extends readonly unknown[]>(
  log: Logger,
  task: string,
  listener: (...values: Values) => unknown,
): (...values: Values) => void {
  return (...values) => runInBackground(log, task, () => listener(...values));
}

/** Logs and counts an otherwise unhandled failure. Never throws. */
export function noteFailure(log: Logger, task: string, error: unknown, requestId?: string): void {
  const { totals, lines } = getFailures(log);
  totals.set(task, (totals.get(task) ?? 0) + 1);
  const suffix = lines.admit(task);
  if (suffix === undefined) return;
  const prefix = requestId === undefined ? '' : `request ${requestId}: `;
  logFailure(log, `${prefix}${task} failed${suffix}`, error);
}

/** Returns the number of failures by task. */
export function getFailureCounts(log: Logger): ReadonlyMap<string, number> {
  return failuresByLog.get(log)?.totals ?? new Map();
}

function getFailures(log: Logger): Failures {
  const failures = failuresByLog.get(log) ?? { totals: new Map(), lines: new LineThrottle(reminderIntervalMs) };
  failuresByLog.set(log, failures);
  return failures;
}
