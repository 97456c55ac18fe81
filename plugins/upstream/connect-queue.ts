/** Attempts that wait for a connection to the end, so that somebody finds out whether the place is dead. */
const scouts = 10;
/** Ms after which a connection that has not opened is doubted; a new one takes two round trips and a handshake. */
const patience = 300;

/** An attempt that waits for a connection. */
export interface Waiting {
  /**
   * Ms until it should not be waited for alone any more; undefined when it is one of those that find out, or waits no
   * longer. Counts from when the one that has waited longest began, since its fate is everybody's.
   */
  readonly doubtAfter: number | undefined;
  /** It has its connection, or has given up. */
  leave(): void;
}

/**
 * Attempts that wait for a connection to one place. When nobody is there all of them would wait until the connect
 * deadline; only a few have to, and the others can ask elsewhere meanwhile.
 */
export class ConnectQueue {
  /** When each began, on the clock of performance.now(); the oldest is first. */
  readonly #since = new Map<Waiting, number>();

  /** An attempt waits from now on. */
  enter(): Waiting {
    const since = this.#since;
    const isScout = since.size < scouts;
    const waiting: Waiting = {
      get doubtAfter() {
        if (isScout || !since.has(waiting)) return undefined;
        const [oldest = 0] = since.values();
        return Math.max(0, oldest + patience - performance.now());
      },
      leave: () => since.delete(waiting),
    };
    since.set(waiting, performance.now());
    return waiting;
  }
}
