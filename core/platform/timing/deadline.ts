import { LagTolerantTimer } from './lag-tolerant-timer.ts';

/** The work did not settle before its deadline. Its later result is ignored. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/**
 * Waits for the work until the deadline.
 *
 * @param message of the error if the deadline passes first
 * @param signal ends the wait early when it aborts
 * @throws DeadlineExceeded, or the error of the work
 */
export async function withDeadline<T>(
  work: Promise<T>,
  milliseconds: number,
  message: string,
  signal?: AbortSignal,
): Promise<T> {
  const result = await firstOrTimeout([work], milliseconds, signal);
  if (result === timedOut) throw new DeadlineExceeded(message);
  return result;
}

/** The result of `firstOrTimeout` if no promise has settled in time. */
export const timedOut = Symbol('timed out');

/**
 * Waits for the first of these promises to settle.
 *
 * @param milliseconds may be infinite
 * @returns `timedOut` if the time is up or the signal aborts first
 */
export async function firstOrTimeout<T>(
  work: readonly Promise<T>[],
  milliseconds: number,
  signal?: AbortSignal,
): Promise<T | typeof timedOut> {
  if (milliseconds === Infinity && signal === undefined)
    return work.length === 1 ? (work[0] as Promise<T>) : Promise.race(work);
  const { promise, resolve } = Promise.withResolvers<typeof timedOut>();
  const giveUp = () => resolve(timedOut);
  const timer = new LagTolerantTimer(giveUp);
  if (milliseconds !== Infinity) timer.start(milliseconds);
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted) giveUp();
  try {
    return await Promise.race([...work, promise]);
  } finally {
    timer.stop();
    signal?.removeEventListener('abort', giveUp);
  }
}

/**
 * Waits for the work until the signal aborts. Its later result is ignored.
 *
 * @throws the signal's reason, or the error of the work
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const result = await firstOrTimeout([work], Infinity, signal);
  if (result === timedOut) throw signal.reason;
  return result;
}
