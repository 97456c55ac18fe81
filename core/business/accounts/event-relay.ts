import type { Host, Services } from '#core/gateway/host/host.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { eventChannel, publishEvents } from './account-events.ts';

const warnIntervalMs = 60_000;

type RelayServices = Pick<Services, 'database' | 'events' | 'log'>;

/** Publishes recorded events when PostgreSQL notifies this process. The periodic sweep in `plugins/accounts` picks up missed events. */
export class EventRelay implements AsyncDisposable {
  readonly #services: RelayServices;
  readonly #listening: Promise<() => void>;
  readonly #warningThrottle = new Throttle(warnIntervalMs);
  #running: Promise<void> | undefined;
  #hasNewEvents = false;
  #isClosed = false;

  constructor(services: RelayServices) {
    this.#services = services;
    const wake = () => this.#wake();
    // Also wakes after a gap in the connection, because notifications may have been lost during it.
    this.#listening = services.database.notifications.listen(eventChannel, wake, wake);
    this.#listening.catch(() => undefined); // `ready` reports it
  }

  /** Resolves once the relay listens for notifications. */
  async ready(): Promise<void> {
    await this.#listening;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const stop = await this.#listening.catch(() => undefined);
    stop?.();
    await this.#running;
  }

  #wake(): void {
    if (this.#isClosed) return;
    this.#hasNewEvents = true;
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    while (this.#hasNewEvents && !this.#isClosed) {
      this.#hasNewEvents = false;
      try {
        await publishEvents(this.#services);
      } catch (error) {
        // Not retried here: the next notification or the sweep publishes them.
        this.#report(error);
      }
    }
    this.#running = undefined;
  }

  #report(error: unknown): void {
    if (!this.#warningThrottle.tryPass()) return;
    const reason = error instanceof Error ? error.message : String(error);
    this.#services.log.warn(`could not publish account events, will retry later: ${reason}`);
  }
}

/** The relay starts listening on first use. */
export function getEventRelay(host: Host): EventRelay {
  return host.keep('event-relay', () => new EventRelay(host));
}
