import { describeFailure } from '../errors/connection-error.ts';
import type { Logger } from '../logger.ts';
import { Throttle } from '../timing/throttle.ts';
import type { QueueFailure } from './jobs.ts';

const reminderIntervalMs = 60_000;
const maxReasonLength = 200; // characters of a third-party message

/** Records failures of a queue since a worker of this process last got a response. */
export class QueueFailures {
  readonly #log: Logger;
  readonly #reminder = new Throttle(reminderIntervalMs);
  #current: QueueFailure | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  get current(): QueueFailure | undefined {
    return this.#current;
  }

  record({ message }: Error): void {
    const reason = describeFailure(message).slice(0, maxReasonLength);
    this.#current = { reason, since: this.#current?.since ?? performance.now() };
    if (this.#reminder.tryPass()) this.#log.warn(`the job queue failed: ${message}`);
  }

  clear(): void {
    this.#current = undefined;
  }
}
