import { GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import type { Exchange } from './exchange.ts';
import { type Link, LinkedList } from './linked-list.ts';
import { type StageMoment, StageFault } from './stage-fault.ts';

const checkIntervalMs = 1_000;

interface Wait {
  readonly moment: StageMoment;
  readonly timeoutSeconds: number;
  readonly exchange: Exchange;
  readonly reject: (fault: StageFault | GatewayError) => void;
  startCheck: number; // number of the last check before the wait
  link: Link<Wait> | undefined; // undefined after the wait
}

/**
 * Waits for stages, each up to its timeout. Every request waits here several times, so all waits share one timer. It checks them once a
 * second, so a timeout may fire up to a second late.
 */
export class Watchdog {
  readonly #waits = new LinkedList<Wait>();
  #checkCount = 0;
  #isAbandoningAll = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * Waits for a stage. The timeout pauses while the request body is read or the exchange is queued, because both have their own limits. A
   * timeout also abandons the work of other stages for the exchange. A stage that does not react when the gateway ends its exchange is
   * abandoned at the next check.
   *
   * @param discardLate receives a late result of the stage
   * @throws StageFault on timeout
   * @throws the reason why the gateway ended the exchange, and errors of the stage
   */
  wait<T>(
    work: Promise<T>,
    moment: StageMoment,
    timeoutSeconds: number,
    exchange: Exchange,
    discardLate: (result: unknown) => void,
  ): Promise<T> {
    this.#timer ??= setInterval(() => this.#checkWaits(), checkIntervalMs).unref();
    return new Promise((resolve, reject) => {
      const startCheck = this.#checkCount;
      const wait: Wait = { moment, timeoutSeconds, exchange, reject, startCheck, link: undefined };
      wait.link = this.#waits.add(wait);
      work.then(
        (result) => (this.#tryEndWait(wait) ? resolve(result) : discardLate(result)),
        (error: unknown) => {
          if (this.#tryEndWait(wait)) reject(error);
        },
      );
    });
  }

  /** Abandons all waits, including those for a body or a queue, and all later waits at the next check. */
  abandonAll(): void {
    this.#isAbandoningAll = true;
    this.#checkWaits();
  }

  #checkWaits(): void {
    this.#checkCount++;
    for (const wait of this.#waits.items()) {
      const { abortReason } = wait.exchange;
      if (abortReason instanceof GatewayError && wait.moment.moment !== 'done') {
        if (this.#tryEndWait(wait)) wait.reject(abortReason);
        continue;
      }
      if (!this.#isAbandoningAll && hasOwnLimit(wait.exchange)) wait.startCheck = this.#checkCount;
      const waitedSeconds = this.#checkCount - wait.startCheck;
      if (waitedSeconds <= (this.#isAbandoningAll ? 0 : wait.timeoutSeconds)) continue;
      if (this.#tryEndWait(wait)) abandon(wait, Math.min(waitedSeconds, wait.timeoutSeconds));
    }
    if (this.#waits.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tryEndWait(wait: Wait): boolean {
    if (wait.link === undefined) return false;
    this.#waits.remove(wait.link);
    wait.link = undefined;
    // A stage that threw may have left this set, which would disable the timeouts of the next stages.
    wait.exchange.isQueued = false;
    return true;
  }
}

function hasOwnLimit({ body, isQueued }: Exchange): boolean {
  return isQueued || body.isReading === true;
}

function abandon({ moment, exchange, reject }: Wait, waitedSeconds: number): void {
  const fault = new StageFault(moment, `has not finished after ${waitedSeconds} s`);
  if (moment.moment !== 'done') exchange.abort(toGatewayError(fault));
  reject(fault);
}
