import { type Link, LinkedList } from '#core/gateway/pipeline/linked-list.ts';

/** Number of attempts that wait for the whole connect timeout to find out whether the upstream is dead. */
const maxProbingAttempts = 10;
/** A slower connection attempt is suspect, because it needs only two round trips and a handshake. */
const slowAfterMs = 300;

/** An attempt that waits for a connection. */
export interface ConnectingAttempt {
  /**
   * Ms until another route should also be tried; undefined for a probing attempt and after `leave`. Counted from the start of the queue's
   * longest wait, because all attempts wait for the same origin.
   */
  readonly hedgeAfter: number | undefined;
  /** Leaves the queue. Call it when the attempt has a connection or has ended. */
  leave(): void;
}

/**
 * Attempts that wait for a connection to one origin. If the origin is dead, a few attempts keep probing until the connect timeout, while
 * the others try another route.
 */
export class ConnectQueue {
  readonly #waitStarts = new LinkedList<number>(); // performance.now()

  enter(): ConnectingAttempt {
    return new QueuedAttempt(this.#waitStarts);
  }
}

class QueuedAttempt implements ConnectingAttempt {
  readonly #queue: LinkedList<number>;
  readonly #isProbing: boolean;
  readonly #link: Link<number>;

  constructor(queue: LinkedList<number>) {
    this.#queue = queue;
    this.#isProbing = queue.size < maxProbingAttempts;
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
