import { GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import type { Exchange } from './exchange.ts';
import { type Link, LinkedList } from './linked-list.ts';
import { type StageMoment, StageFault } from './stage-fault.ts';

const intervalMs = 1_000;

interface Wait {
  readonly moment: StageMoment;
  readonly seconds: number;
  readonly exchange: Exchange;
  readonly reject: (fault: StageFault | GatewayError) => void;
  readonly discardLate: (result: unknown) => void;
  since: number; // number of the last check before the wait
  link: Link<Wait> | undefined;
}

/**
 * Waits for stages, each up to its timeout. Every request waits here several times, so all waits share one timer: they are checked once a
 * second, and a timeout fires up to a second late.
 */
export class Watchdog {
  readonly #waits = new LinkedList<Wait>();
  #checks = 0;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * Waits for a stage. Time while the request body is read or the exchange is queued is not counted, because each has its own limit. If a
   * stage times out, the other stages' work for its exchange is abandoned too. A stage that ignores that the gateway ends its exchange is
   * abandoned at the next check.
   *
   * @param seconds from now
   * @param discardLate receives a late result of the stage
   * @throws StageFault on timeout; the reason why the exchange was ended; errors of the stage
   */
  wait<T>(
    work: Promise<T>,
    moment: StageMoment,
    seconds: number,
    exchange: Exchange,
    discardLate: (result: unknown) => void,
  ): Promise<T> {
    this.#timer ??= setInterval(() => this.#check(), intervalMs).unref();
    return new Promise((resolve, reject) => {
      const wait: Wait = { moment, seconds, exchange, reject, discardLate, since: this.#checks, link: undefined };
      wait.link = this.#waits.add(wait);
      work.then(
        (result) => (this.#end(wait) ? resolve(result) : discardLate(result)),
        (error: unknown) => {
          if (this.#end(wait)) reject(error as Error);
        },
      );
    });
  }

  /** Abandons all waits, including those for a body or a slot, and from then on any that a check finds. */
  giveUpAll(): void {
    this.#isOver = true;
    this.#check();
  }

  #check(): void {
    this.#checks++;
    for (const wait of this.#waits.items()) {
      const { abortReason } = wait.exchange;
      if (abortReason instanceof GatewayError && wait.moment.moment !== 'done') {
        if (this.#end(wait)) wait.reject(abortReason);
        continue;
      }
      if (!this.#isOver && hasOwnLimit(wait.exchange)) wait.since = this.#checks;
      const waited = this.#checks - wait.since;
      if (waited <= (this.#isOver ? 0 : wait.seconds) || !this.#end(wait)) continue;
      giveUp(wait, Math.min(waited, wait.seconds));
    }
    if (this.#waits.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #end(wait: Wait): boolean {
    if (wait.link === undefined) return false;
    this.#waits.remove(wait.link);
    wait.link = undefined;
    // A stage that threw may have left this set, and the time of the next stages would not be counted.
    wait.exchange.isQueued = false;
    return true;
  }
}

/** True while the exchange waits for something with its own limit. */
function hasOwnLimit({ body, isQueued }: Exchange): boolean {
  return isQueued || body.isReading === true;
}

function giveUp({ moment, exchange, reject }: Wait, seconds: number): void {
  const fault = new StageFault(moment, `has not finished after ${seconds} s`);
  if (moment.moment !== 'done') exchange.abort(toGatewayError(fault));
  reject(fault);
}
