const turnMs = 12; // plus the delay of the event loop
const lateTurns = 3; // without a reply, until a caller may use its fallback: 24 to 36 ms on an idle machine
const queuedTurns = 8; // until a caller may use its fallback even if replies to earlier commands still arrive
const deadTurns = 20; // without a reply, until the connection counts as dead

/** Thrown if a reply did not arrive in time. It may still arrive, and the command may have been executed. */
export class LateReply extends Error {
  override readonly name = 'LateReply';

  constructor() {
    super('no response in time');
  }
}

/** Returns a value in place of a late reply, or undefined to keep waiting until the connection counts as dead. */
export type Fallback<T> = () => T | undefined;

interface WatchedReply<T> {
  readonly value: T;
  readonly isLate: boolean;
}

interface Wait {
  readonly sentInTurn: number;
  tryFallback(): void;
  fail(error: unknown): void;
}

/**
 * Waits for the replies of one connection.
 *
 * Time is counted in turns of the event loop. A turn takes 12 ms and ends after the loop has read its sockets, so a process that was
 * suspended or busy always reads pending replies before it treats them as late. A reply restarts the wait of the commands behind it,
 * because a long queue is not a dead connection.
 */
export class ReplyWatch {
  readonly #onDeadConnection: () => void;
  readonly #waits = new Set<Wait>(); // in time, in sending order
  readonly #overdue = new Set<Wait>(); // whose fallback was tried, in sending order
  #turn = 0;
  #lastReply = 0;
  #isCounting = false;

  constructor(onDeadConnection: () => void) {
    this.#onDeadConnection = onDeadConnection;
  }

  /**
   * @param isLateExpected true to try the fallback as soon as the command is sent, because earlier replies were late
   * @throws LateReply, or the error of `fallback` or of the command
   */
  wait<T>(
    command: () => Promise<T>,
    fallback: Fallback<T> = () => undefined,
    isLateExpected = false,
  ): Promise<WatchedReply<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<WatchedReply<T>>();
    const sentInTurn = this.#turn;
    const isLate = () => this.#turn - sentInTurn >= lateTurns;
    const wait: Wait = {
      sentInTurn,
      tryFallback() {
        try {
          const value = fallback();
          if (value !== undefined) resolve({ value, isLate: true });
        } catch (error) {
          reject(error);
        }
      },
      fail: reject,
    };
    const finish = () => {
      this.#waits.delete(wait);
      this.#overdue.delete(wait);
      this.#lastReply = this.#turn;
    };
    (isLateExpected ? this.#overdue : this.#waits).add(wait);
    command().then(
      (value) => {
        finish();
        resolve({ value, isLate: isLate() });
      },
      (error: unknown) => {
        finish();
        reject(error);
      },
    );
    if (isLateExpected) wait.tryFallback();
    if (!this.#isCounting) this.#nextTurn();
    return promise;
  }

  fail(error: unknown): void {
    for (const wait of [...this.#overdue, ...this.#waits]) wait.fail(error);
    this.#overdue.clear();
    this.#waits.clear();
  }

  #nextTurn(): void {
    this.#isCounting = this.#waits.size + this.#overdue.size > 0;
    // The immediate runs after the poll that follows the timer, so all replies that had arrived have been read.
    if (this.#isCounting) setTimeout(() => setImmediate(() => this.#endTurn()), turnMs);
  }

  #endTurn(): void {
    this.#turn++;
    for (const wait of this.#waits) {
      // All later waits were sent after this one.
      if (this.#countSilentTurns(wait) < lateTurns && this.#turn - wait.sentInTurn < queuedTurns) break;
      this.#waits.delete(wait);
      this.#overdue.add(wait);
      wait.tryFallback();
    }
    const [oldest] = this.#overdue;
    if (oldest !== undefined && this.#countSilentTurns(oldest) >= deadTurns) this.#onDeadConnection();
    this.#nextTurn();
  }

  #countSilentTurns({ sentInTurn: since }: Wait): number {
    return this.#turn - Math.max(since, this.#lastReply);
  }
}
