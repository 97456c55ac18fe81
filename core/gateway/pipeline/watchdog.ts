import { toGatewayError } from '#core/platform/errors/table.ts';
import type { Exchange } from './exchange.ts';
import { type Link, LinkedList } from './linked-list.ts';
import { type StageMoment, StageFault } from './stage-fault.ts';

/** Ms between two looks at everything that waits. */
const interval = 1_000;

interface Wait {
  readonly moment: StageMoment;
  readonly seconds: number;
  readonly exchange: Exchange;
  readonly reject: (fault: StageFault) => void;
  readonly discardLate: (result: unknown) => void;
  /** The look before which it began. */
  since: number;
  link: Link<Wait> | undefined;
}

/**
 * Waits for stages, but not longer than each may take. Every request comes by here several times, so a wait costs no timer of
 * its own: all are looked at once a second, and one ends up to a second late.
 */
export class Watchdog {
  readonly #waits = new LinkedList<Wait>();
  #looks = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * Waits for a stage. The time during which the request body is read does not count, since that has its own limit. When a stage
   * times out, the other stages' work for its exchange is abandoned as well.
   *
   * @param seconds from now
   * @param discardLate receives the late result of the stage
   * @throws StageFault on timeout; what the stage throws
   */
  wait<T>(
    work: Promise<T>,
    moment: StageMoment,
    seconds: number,
    exchange: Exchange,
    discardLate: (result: unknown) => void,
  ): Promise<T> {
    this.#timer ??= setInterval(() => this.#look(), interval).unref();
    return new Promise((resolve, reject) => {
      const wait: Wait = { moment, seconds, exchange, reject, discardLate, since: this.#looks, link: undefined };
      wait.link = this.#waits.add(wait);
      work.then(
        (result) => (this.#end(wait) ? resolve(result) : discardLate(result)),
        (error: unknown) => {
          if (this.#end(wait)) reject(error as Error);
        },
      );
    });
  }

  #look(): void {
    this.#looks++;
    for (const wait of this.#waits.items()) {
      if (wait.exchange.body.isReading === true) wait.since = this.#looks;
      if (this.#looks - wait.since <= wait.seconds || !this.#end(wait)) continue;
      giveUp(wait);
    }
    if (this.#waits.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** False when it has ended before. */
  #end(wait: Wait): boolean {
    if (wait.link === undefined) return false;
    this.#waits.remove(wait.link);
    wait.link = undefined;
    return true;
  }
}

function giveUp({ moment, seconds, exchange, reject }: Wait): void {
  const fault = new StageFault(moment, `has not finished after ${seconds} s`);
  if (moment.moment !== 'done') exchange.abort(toGatewayError(fault));
  reject(fault);
}
