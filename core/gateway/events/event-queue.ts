import type { Logger } from '#core/platform/logger.ts';
import { waitForFirst, notSettled } from '#core/platform/timing/deadline.ts';
import type { EventHandler, EventName } from './event-handler.ts';

const maxQueueLength = 1_000; // per handler; later events are dropped
const handlerTimeoutMs = 30_000; // per event; afterwards the next event is handled concurrently
const closeTimeoutMs = 5_000;

/** Passes events to a handler, one at a time. */
export class EventQueue<Context> {
  readonly event: EventName;
  readonly #handler: EventHandler<Context>;
  readonly #context: () => Context;
  readonly #log: Logger;
  readonly #queue: never[] = [];
  #running: Promise<void> | undefined;
  #dropped = 0;

  constructor(handler: EventHandler<Context>, context: () => Context, log: Logger) {
    this.event = handler.event;
    this.#handler = handler;
    this.#context = context;
    this.#log = log;
  }

  /** Drops the event if the queue is full. */
  add(payload: never): void {
    if (this.#queue.length >= maxQueueLength) {
      if (this.#dropped === 0)
        this.#log.error(`${this.#name} is too slow: ${maxQueueLength} events are queued, later ones are dropped`);
      this.#dropped++;
      return;
    }
    this.#queue.push(payload);
    this.#running ??= this.#drain();
  }

  /** Drops the queued events, and waits a few seconds for the running handler. */
  async close(): Promise<void> {
    this.#queue.length = 0;
    await waitForFirst([this.#running ?? Promise.resolve()], closeTimeoutMs);
  }

  get #name(): string {
    return `plugin ${this.#handler.plugin}, handler of ${this.event}`;
  }

  async #drain(): Promise<void> {
    // Handlers run after the publisher's call has returned.
    await Promise.resolve();
    for (let payload = this.#queue.shift(); payload !== undefined; payload = this.#queue.shift()) {
      const result = await waitForFirst([this.#runHandler(payload)], handlerTimeoutMs);
      if (result === notSettled) this.#log.error(`${this.#name} has not finished after ${handlerTimeoutMs / 1000} s`);
    }
    this.#running = undefined;
    if (this.#dropped > 0) this.#log.error(`${this.#name}: ${this.#dropped} events dropped`);
    this.#dropped = 0;
  }

  /** Never rejects. */
  async #runHandler(payload: never): Promise<void> {
    try {
      await this.#handler.handle(payload, this.#context());
    } catch (error) {
      this.#log.error(`${this.#name} failed`, error);
    }
  }
}
