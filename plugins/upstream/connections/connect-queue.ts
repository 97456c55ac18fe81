import { type Link, LinkedList } from '#core/gateway/pipeline/linked-list.ts';

/** Attempts that wait until the connect timeout, to find out whether the upstream is dead. */
const probingAttempts = 10;
/** A connection attempt that takes longer is suspect: it takes two round trips and a handshake. */
const slowAfterMs = 300;

/** An attempt that waits for a connection. */
export interface Waiting {
  /**
   * Ms until another route should also be tried; undefined for a probing attempt, or once it no longer waits. Counted from the start of the
   * longest wait in the queue, because all wait for the same origin.
   */
  readonly hedgeAfter: number | undefined;
  /** Call when the attempt has its connection or ended. */
  leave(): void;
}

/**
 * Attempts that wait for a connection to one origin. If the origin is dead, a few keep probing until the connect timeout, and the others
 * try another route meanwhile.
 */
export class ConnectQueue {
  readonly #since = new LinkedList<number>(); // performance.now()

  enter(): Waiting {
    return new QueuedAttempt(this.#since);
  }
}

class QueuedAttempt implements Waiting {
  readonly #queue: LinkedList<number>;
  readonly #isProbing: boolean;
  readonly #link: Link<number>;

  constructor(queue: LinkedList<number>) {
    this.#queue = queue;
    this.#isProbing = queue.size < probingAttempts;
    this.#link = queue.add(performance.now());
  }

  get hedgeAfter(): number | undefined {
    if (this.#isProbing || !this.#link.isListed) return undefined;
    return Math.max(0, (this.#queue.first ?? 0) + slowAfterMs - performance.now());
  }

  leave(): void {
    this.#queue.remove(this.#link);
  }
}
