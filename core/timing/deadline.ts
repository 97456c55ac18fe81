/** Work that was waited for until its deadline. It may still end later, unheard. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/**
 * Waits for the work until the deadline.
 *
 * @param message of the error, when the deadline passes first
 * @param signal brings the deadline forward
 * @throws DeadlineExceeded, or what the work rejects with
 */
export async function withDeadline<T>(
  work: Promise<T>,
  milliseconds: number,
  message: string,
  signal?: AbortSignal,
): Promise<T> {
  const result = await firstOrLate([work], milliseconds, signal);
  if (result === late) throw new DeadlineExceeded(message);
  return result;
}

/** What `firstOrLate` returns when the time is up. */
export const late = Symbol('late');

/**
 * Waits for the first of these to settle.
 *
 * @param milliseconds may be infinite
 * @returns `late` when the time is up, or the signal has aborted, before
 */
export async function firstOrLate<T>(
  work: readonly Promise<T>[],
  milliseconds: number,
  signal?: AbortSignal,
): Promise<T | typeof late> {
  if (milliseconds === Infinity && signal === undefined) return Promise.race(work);
  const { promise, resolve } = Promise.withResolvers<typeof late>();
  const giveUp = () => resolve(late);
  const timer = milliseconds === Infinity ? undefined : setTimeout(giveUp, milliseconds);
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted) giveUp();
  try {
    return await Promise.race([...work, promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}
