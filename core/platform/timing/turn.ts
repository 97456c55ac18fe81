import { bounds } from '../bounds.ts';

/**
 * Resolves in a later turn of the event loop, after it has polled its sockets and timers. Each turn resolves one caller, so that the steps
 * of many requests never add up to one long turn.
 */
export const nextTurn = createQueue();

/** Like `nextTurn`, for pages. Its queue is separate, so that hundreds of pages opened at once do not delay requests. */
export const nextPageTurn = createQueue();

/** Like `nextTurn`, for clients that send tiny chunks. Its queue is separate, so that they do not delay other requests. */
export const nextPacketTurn = createQueue();

/** Waits for a turn before the next step of processing a long body. Returns undefined for a short one, which needs no wait. */
export function yieldIfLong(length: number): Promise<void> | undefined {
  return length > bounds.stepwiseBody ? nextTurn() : undefined;
}

function createQueue(): () => Promise<void> {
  const resolvers: (() => void)[] = [];
  const resolveNext = () => {
    // The next `setImmediate` runs after the loop has polled its sockets again.
    resolvers.shift()?.();
    if (resolvers.length > 0) setImmediate(resolveNext);
  };
  return () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (resolvers.push(resolve) === 1) setImmediate(resolveNext);
    return promise;
  };
}

/** Runs each step in a separate turn of the event loop, and returns the generator's return value. */
export async function runInTurns<T>(steps: Generator<undefined, T>): Promise<T> {
  for (;;) {
    await nextTurn();
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Runs all steps without yielding, and returns the generator's return value. */
export function runToEnd<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
