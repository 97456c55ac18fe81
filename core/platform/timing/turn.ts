import { bounds } from '../bounds.ts';

/**
 * Resolves in a later turn of the event loop, after it has polled its sockets and timers. One caller at a time: long
 * pieces of work that are separated by turns never add up to one long turn, however many requests do them.
 */
export const nextTurn = createQueue();

/** Like `nextTurn`, for pages, in a separate queue: hundreds of pages that open at once do not delay requests. */
export const nextPageTurn = createQueue();

/** Like `nextTurn`, for clients that send tiny chunks, batched so that they do not starve other requests. */
export const nextPacketTurn = createQueue();

/** Waits for a turn before the next step of a long body; undefined for a short one. */
export function turnFor(length: number): Promise<void> | undefined {
  return length > bounds.stepwiseBody ? nextTurn() : undefined;
}

function createQueue(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const next = () => {
    // Turns requested from here on run after the loop has polled its sockets again.
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(next);
  };
  return () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (waiting.push(resolve) === 1) setImmediate(next);
    return promise;
  };
}

/**
 * Runs each step in a separate turn of the event loop.
 *
 * @returns the generator's return value
 */
export async function runInTurns<T>(steps: Generator<undefined, T>): Promise<T> {
  for (;;) {
    await nextTurn();
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/**
 * Runs all steps without yielding.
 *
 * @returns the generator's return value
 */
export function runToEnd<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
