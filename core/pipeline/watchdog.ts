import type { Exchange } from './exchange.ts';
import { type StageMoment, StageFault } from './stage-fault.ts';

/** Seconds; the default of `listen.stage_timeout`. */
export const defaultStageTimeout = 60;

/**
 * Waits for a stage, but not longer than it may take. The time does not count while the request body is read, which has
 * a limit of its own.
 *
 * @param seconds from now
 * @param discardLate receives what the stage returns after all
 * @throws StageFault when the time is over; what the stage throws
 */
export async function waitForStage<T>(
  work: Promise<T>,
  moment: StageMoment,
  seconds: number,
  exchange: Exchange,
  discardLate: (result: T) => void = () => undefined,
): Promise<T> {
  const { promise: stalled, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    if (exchange.body.isReading === true) return void timer.refresh();
    reject(new StageFault(moment, `has not finished after ${seconds} s`));
    work.then(discardLate, () => undefined);
  }, seconds * 1000);
  try {
    return await Promise.race([work, stalled]);
  } finally {
    clearTimeout(timer);
  }
}
