import { type Link, LinkedList } from '#core/gateway/pipeline/linked-list.ts';

const maxProbingAttempts = 10; // wait for the whole connect timeout, to find out whether the upstream is dead
/** Connecting takes two round trips and a handshake. If it takes longer than this, the upstream may be dead. */
const slowAfterMs = 300;

export interface ConnectingAttempt {
  /**
   * Ms until another route should be tried as well; undefined for a probing attempt and after `leave`. Counted from the start of the
   * longest wait in the queue, because all attempts wait for the same origin.
   */
  readonly hedgeAfter: number | undefined;
  /** Must be called when the attempt has a connection or has ended. */
  leave(): void;
}

/**
 * Attempts that wait for a connection to one origin. If the origin is dead, a few attempts keep probing until the connect timeout, and the
 * others try another route.
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
