import { type Link, LinkedList } from '#core/pipeline/linked-list.ts';

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
  /** When each began, on the clock of performance.now(). */
  readonly #since = new LinkedList<number>();

  /** An attempt waits from now on. */
  enter(): Waiting {
    return new QueuedAttempt(this.#since);
  }
}

class QueuedAttempt implements Waiting {
  readonly #queue: LinkedList<number>;
  readonly #isScout: boolean;
  readonly #link: Link<number>;

  constructor(queue: LinkedList<number>) {
    this.#queue = queue;
    this.#isScout = queue.size < scouts;
    this.#link = queue.add(performance.now());
  }

  get doubtAfter(): number | undefined {
    if (this.#isScout || !this.#link.isListed) return undefined;
    return Math.max(0, (this.#queue.first ?? 0) + patience - performance.now());
  }

  leave(): void {
    this.#queue.remove(this.#link);
  }
}
