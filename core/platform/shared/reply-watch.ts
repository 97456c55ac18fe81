/** Ms of one turn, before the delay of the event loop is added. */
const turn = 12;
/** Turns without a reply after which a caller may use its fallback: 24 to 36 ms on an idle machine. */
const silentTurns = 3;
/** Turns until a caller may use its fallback while replies to earlier commands still arrive. */
const queuedTurns = 8;
/** Turns without a reply after which the connection counts as dead. */
const deadTurns = 20;

/** The reply did not come in time; it may still come, and the command may have been executed. */
export class LateReply extends Error {
  override readonly name = 'LateReply';

  constructor() {
    super('no response in time');
  }
}

/** Supplies a value in place of a late reply; undefined to keep waiting until the connection counts as dead. */
export type Fallback<T> = () => T | undefined;

interface WatchedReply<T> {
  readonly value: T;
  readonly isLate: boolean;
}

interface Wait {
  readonly since: number; // number of the turn
  decide(): void;
  fail(error: unknown): void;
}

/**
 * Waits for the replies of one connection.
 *
 * Time is counted in turns of the event loop. A turn takes 12 ms and ends after the loop has read its sockets, so a process
 * that was suspended or busy always reads pending replies before it treats them as late. A reply restarts the wait of the
 * commands behind it: a long queue is not a dead connection.
 */
export class ReplyWatch {
  readonly #onSilence: () => void;
  /** Both in sending order: waits in time, and waits whose fallback was tried. */
  readonly #waits = new Set<Wait>();
  readonly #overdue = new Set<Wait>();
  #turn = 0;
  #lastReply = 0;
  #isTurning = false;

  /** @param onSilence called when the connection counts as dead */
  constructor(onSilence: () => void) {
    this.#onSilence = onSilence;
  }

  /**
   * @param isDoubtful true if earlier replies were late: the fallback is tried as soon as the command is sent
   * @throws LateReply, or the error of `fallback` or of the command
   */
  wait<T>(
    command: () => Promise<T>,
    fallback: Fallback<T> = () => undefined,
    isDoubtful = false,
  ): Promise<WatchedReply<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<WatchedReply<T>>();
    const since = this.#turn;
    const isLate = () => this.#turn - since >= silentTurns;
    const wait: Wait = {
      since,
      decide() {
        try {
          const value = fallback();
          if (value !== undefined) resolve({ value, isLate: true });
        } catch (error) {
          reject(error as Error);
        }
      },
      fail: reject,
    };
    const end = () => {
      this.#waits.delete(wait);
      this.#overdue.delete(wait);
      this.#lastReply = this.#turn;
    };
    (isDoubtful ? this.#overdue : this.#waits).add(wait);
    command().then(
      (value) => {
        end();
        resolve({ value, isLate: isLate() });
      },
      (error: unknown) => {
        end();
        reject(error as Error);
      },
    );
    if (isDoubtful) wait.decide();
    if (!this.#isTurning) this.#nextTurn();
    return promise;
  }

  /** Fails all waits. */
  fail(error: unknown): void {
    for (const wait of [...this.#overdue, ...this.#waits]) wait.fail(error);
    this.#overdue.clear();
    this.#waits.clear();
  }

  #nextTurn(): void {
    this.#isTurning = this.#waits.size + this.#overdue.size > 0;
    // The immediate runs after the poll that follows the timer, so replies that had arrived have been read by then.
    if (this.#isTurning) setTimeout(() => setImmediate(() => this.#endTurn()), turn);
  }

  #endTurn(): void {
    this.#turn++;
    for (const wait of this.#waits) {
      // All later waits were sent after this one.
      if (this.#silenceOf(wait) < silentTurns && this.#turn - wait.since < queuedTurns) break;
      this.#waits.delete(wait);
      this.#overdue.add(wait);
      wait.decide();
    }
    const [oldest] = this.#overdue;
    if (oldest !== undefined && this.#silenceOf(oldest) >= deadTurns) this.#onSilence();
    this.#nextTurn();
  }

  /** Turns since the command was sent, or since the last reply to any command. */
  #silenceOf({ since }: Wait): number {
    return this.#turn - Math.max(since, this.#lastReply);
  }
}
