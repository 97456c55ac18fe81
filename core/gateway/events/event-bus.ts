import { logFailure } from '#core/platform/errors/connection-error.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { Events } from '#core/platform/shared/shared.ts';
import { retryUntilDone } from '#core/platform/timing/backoff.ts';
import type { EventHandler, EventName, EventPublisher } from './event-handler.ts';
import { EventQueue } from './event-queue.ts';
import type { EventTypes } from './events.ts';

const channel = 'account-events';
const maxEventBytes = 16_384; // as JSON

/** Publishes events on the shared store, and passes received events to this instance's handlers. Each handler has its own queue. */
export class EventBus<Context> implements EventPublisher, AsyncDisposable {
  readonly #events: Events;
  readonly #queues: readonly EventQueue<Context>[];
  readonly #log: Logger;
  readonly #closing = new AbortController();
  #subscription: Promise<(() => void) | undefined> | undefined;

  constructor(events: Events, handlers: Iterable<EventHandler<Context>>, context: () => Context, log: Logger) {
    this.#events = events;
    this.#queues = [...handlers].map((handler) => new EventQueue(handler, context, log));
    this.#log = log;
  }

  async publish<Name extends EventName>(name: Name, payload: EventTypes[Name]): Promise<void> {
    const message = JSON.stringify({ name, payload });
    if (Buffer.byteLength(message) > maxEventBytes)
      throw new Error(`the event ${name} is larger than ${maxEventBytes} bytes`);
    await this.#events.publish(channel, message);
  }

  /** Starts delivery. Retries in the background if the shared store does not respond. */
  async listen(): Promise<void> {
    const { signal } = this.#closing;
    if (this.#queues.length === 0 || signal.aborted) return;
    const firstTry = Promise.withResolvers<void>();
    const subscribe = () =>
      this.#events.subscribe(channel, (message) => this.#deliver(message)).finally(firstTry.resolve);
    const onFailure = (error: unknown, failures: number) => {
      if (failures === 0) logFailure(this.#log, 'cannot receive events from other instances; retrying', error);
    };
    this.#subscription = retryUntilDone(subscribe, { signal, onFailure });
    await firstTry.promise;
  }

  #deliver(message: string): void {
    const { name, payload } = JSON.parse(message) as { name: EventName; payload: never };
    for (const queue of this.#queues) if (queue.event === name) queue.add(payload);
  }

  /** Stops listening, and waits for running handlers up to a timeout. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    const unsubscribe = await this.#subscription;
    unsubscribe?.();
    await Promise.all(this.#queues.map((queue) => queue.close()));
  }
}
