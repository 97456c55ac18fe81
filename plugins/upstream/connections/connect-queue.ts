import { type Link, LinkedList } from '#core/gateway/pipeline/linked-list.ts';

/** Attempts that wait for their connection until the connect timeout, to find out whether the upstream is dead. */
const scouts = 10;
/** Ms after which a connection counts as doubtful; opening one takes two round trips and a handshake. */
const doubtTime = 300;

/** An attempt that waits for a connection. */
export interface Waiting {
  /**
   * Ms until another route should be asked as well; undefined for a scout, and once it does not wait any more. Counted
   * from the start of the longest wait in the queue, since all wait for the same.
   */
  readonly doubtAfter: number | undefined;
  /** Called when the attempt has its connection or has ended. */
  leave(): void;
}

/**
 * Attempts that wait for a connection to one origin. If the origin is dead, a few scouts wait until the connect timeout,
 * and the others ask another route meanwhile.
 */
export class ConnectQueue {
  /** When each wait began, on the clock of performance.now(). */
  readonly #since = new LinkedList<number>();

  /** Adds an attempt. */
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
    return Math.max(0, (this.#queue.first ?? 0) + doubtTime - performance.now());
  }

  leave(): void {
    this.#queue.remove(this.#link);
  }
}
