import type { Worker } from 'bullmq';
import { Backoff } from '../timing/backoff.ts';

/** Ms between attempts to fetch a job, while the store refuses them. */
const retries = { first: 100, longest: 5_000 };

/**
 * A worker that pauses after a failure to fetch a job. BullMQ pauses only after ECONNREFUSED and asks again at once after
 * any other failure: "the database system is starting up" would be asked in a busy loop, and a connection that never
 * became ready fails without any I/O, so that the event loop would not turn any more.
 */
export function pausingWorker(Base: typeof Worker): typeof Worker {
  return class PacedWorker extends Base {
    readonly #backoff = new Backoff(retries);
    readonly #closing = new AbortController();

    override async close(force?: boolean): Promise<void> {
      this.#closing.abort();
      await super.close(force);
    }

    protected override async moveToActive(token: string, name?: string) {
      try {
        const job = await super.moveToActive(token, name);
        this.#backoff.reset();
        return job;
      } catch (error) {
        await this.#backoff.wait(this.#closing.signal);
        throw error;
      }
    }
  } as typeof Worker;
}
