import { LagTolerantTimer } from './lag-tolerant-timer.ts';

/** Thrown if work did not settle before its deadline, or before its signal aborted. The later result is ignored. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/** Rejects with DeadlineExceeded after the timeout or once the signal aborts, or with the error of the work. */
export async function withDeadline<T>(
  work: Promise<T>,
  timeoutMs: number,
  message: string,
  signal?: AbortSignal,
): Promise<T> {
  const result = await waitForFirst([work], timeoutMs, signal);
  if (result === notSettled) throw new DeadlineExceeded(message);
  return result;
}

export const notSettled = Symbol('not settled');

/**
 * Waits for the first of these promises to settle. A promise that is already settled takes precedence over an aborted signal.
 *
 * @param timeoutMs `Infinity`, or at most 2^31 - 1, the maximum of `setTimeout`
 * @returns `notSettled` if the time is up or the signal aborts first
 */
export async function waitForFirst<T>(
  work: readonly Promise<T>[],
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<T | typeof notSettled> {
  if (timeoutMs === Infinity && signal === undefined)
    return work.length === 1 ? (work[0] as Promise<T>) : Promise.race(work);
  const { promise: gaveUp, resolve } = Promise.withResolvers<typeof notSettled>();
  const giveUp = () => resolve(notSettled);
  const timer = new LagTolerantTimer(giveUp);
  if (timeoutMs !== Infinity) timer.start(timeoutMs);
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted) giveUp();
  try {
    return await Promise.race([...work, gaveUp]);
  } finally {
    timer.stop();
    signal?.removeEventListener('abort', giveUp);
  }
}

/** Waits for the work until the signal aborts, then rejects with its reason. The later result is ignored. */
export async function waitUnlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const result = await waitForFirst([work], Infinity, signal);
  if (result === notSettled) throw signal.reason;
  return result;
}
