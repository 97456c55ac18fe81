import type { Host, Services } from '#core/gateway/host/host.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';

/** Notifications that are processed at once, and that wait in memory; further ones wait in the database for a sweep. */
const bounds = { running: 4, waiting: 1_000 };
/** Ms that running work has to finish on shutdown. */
const closeTimeout = 5_000;

type Work = () => Promise<void>;

/** Processes notifications of this instance as soon as they have been answered. What it loses is in the database. */
export class InboxQueue implements AsyncDisposable {
  readonly #waiting: Work[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #onError: (error: unknown) => void;
  #isClosed = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(work: Work): void {
    if (this.#isClosed || this.#waiting.length >= bounds.waiting) return;
    this.#waiting.push(work);
    this.#next();
  }

  /** Resolves when nothing is waiting or running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#waiting.length = 0;
    await withDeadline(this.idle(), closeTimeout, '').catch(() => undefined);
  }

  #next(): void {
    if (this.#running.size >= bounds.running) return;
    const work = this.#waiting.shift();
    if (work === undefined) return;
    const run = work()
      .catch(this.#onError)
      .finally(() => {
        this.#running.delete(run);
        this.#next();
      });
    this.#running.add(run);
  }
}

/** The queue of this process. */
export function inboxQueue({ keep, log }: Pick<Services, 'keep' | 'log'> | Host): InboxQueue {
  return keep(
    'payment-inbox',
    () => new InboxQueue((error) => log.error('a notification could not be processed', error)),
  );
}
