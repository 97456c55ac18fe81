import { inBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { StoredEvents } from './run-rows.ts';

const collectTime = 200; // ms for which events are collected before they are stored
const pauseAbove = 65_536; // characters of collected events above which reading the answer pauses until they are stored
const failAbove = 1_048_576; // characters of collected events above which the answer is ended because storing them fails

/** Stores the events of a stream in order and in batches. Its buffer stays small: no events are read while a batch is stored. */
export class EventLog {
  readonly #store: (events: StoredEvents) => Promise<void>;
  readonly #log: Logger;
  #events = '';
  #last = -1;
  #timer: NodeJS.Timeout | undefined;
  #storing: Promise<void> = Promise.resolve();
  total = 0;

  constructor(store: (events: StoredEvents) => Promise<void>, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  get last(): number {
    return this.#last;
  }

  add(event: string, sequence: number): void {
    this.#events += event;
    this.#last = sequence;
    this.total += event.length;
    this.#timer ??= setTimeout(() => inBackground(this.#log, 'storing events', () => this.flush()), collectTime);
  }

  /**
   * Resolves when there is room for more events. While the database fails, events are collected until the room is used up.
   *
   * @throws the error of storing
   */
  async room(): Promise<void> {
    if (this.#events.length <= pauseAbove) return;
    await this.flush().catch((error: unknown) => {
      if (this.#events.length > failAbove) throw error;
    });
  }

  /**
   * Stores all collected events.
   *
   * @throws the error of storing
   */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const before = this.#storing;
    const storing = before.then(() => this.#write());
    this.#storing = storing.catch(() => undefined);
    await storing;
  }

  async #write(): Promise<void> {
    if (this.#events === '') return;
    const events = { events: this.#events, last_sequence: this.#last };
    this.#events = '';
    try {
      await this.#store(events);
    } catch (error) {
      // They are stored together with the next batch.
      this.#events = events.events + this.#events;
      throw error;
    }
  }
}
