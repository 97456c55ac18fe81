import type { Host, Services } from '#core/gateway/host/host.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';

interface QueueBounds {
  readonly running: number;
  readonly waiting: number; // the rest waits in the database for a sweep
}

const inboxBounds = { running: 24, waiting: 2_000 }; // at the usual rate, this many wait for the provider's response
const chargeBounds = { running: 1_000, waiting: 4_000 }; // most of them are only waiting for their turn
const closeTimeoutMs = 5_000;

type Work = () => Promise<void>;

/** Background work on this instance. Work that the queue drops remains in the database. */
class WorkQueue implements AsyncDisposable {
  readonly #waiting: Work[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #bounds: QueueBounds;
  readonly #onError: (error: unknown) => void;
  #isClosed = false;

  constructor(bounds: QueueBounds, onError: (error: unknown) => void) {
    this.#bounds = bounds;
    this.#onError = onError;
  }

  add(work: Work): void {
    if (this.#isClosed || this.#waiting.length >= this.#bounds.waiting) return;
    this.#waiting.push(work);
    this.#startNext();
  }

  async waitUntilIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#waiting.length = 0;
    await withDeadline(this.waitUntilIdle(), closeTimeoutMs, '').catch(() => undefined);
  }

  #startNext(): void {
    if (this.#running.size >= this.#bounds.running) return;
    const work = this.#waiting.shift();
    if (work === undefined) return;
    const run = work()
      .catch(this.#onError)
      .finally(() => {
        this.#running.delete(run);
        this.#startNext();
      });
    this.#running.add(run);
  }
}

type QueueHost = Pick<Services, 'keep' | 'log'> | Host;

export function getInboxQueue({ keep, log }: QueueHost): WorkQueue {
  const onError = (error: unknown) => log.error('a notification could not be processed', error);
  return keep('payment-inbox', () => new WorkQueue(inboxBounds, onError));
}

export function getChargeQueue({ keep, log }: QueueHost): WorkQueue {
  const onError = (error: unknown) => log.error('an order could not be charged', error);
  return keep('payment-charges', () => new WorkQueue(chargeBounds, onError));
}

/** Runs overdue work in parallel: if it ran sequentially, slow responses could outlast the last item's lease. Logs failures. */
export async function runAll<Item>(
  host: Host,
  items: readonly Item[],
  work: (host: Host, item: Item) => Promise<void>,
  failureMessage: string,
): Promise<number> {
  const results = await Promise.allSettled(items.map((item) => work(host, item)));
  for (const result of results) if (result.status === 'rejected') host.log.error(failureMessage, result.reason);
  return items.length;
}
